// Cross sections by poles: complex numbers throughout, the Faddeeva function for those broadened by heat, and windows
// of energies with a few poles each.
struct Complex {
    double r, i;
};

struct Pole {
    Complex ea, rt, ra, rf;
    int l;
};

struct Window {
    double t, a, f;
    int start, end;
};

__device__ __forceinline__ Complex operator+(Complex a, Complex b) {
    return {a.r + b.r, a.i + b.i};
}
__device__ __forceinline__ Complex operator-(Complex a, Complex b) {
    return {a.r - b.r, a.i - b.i};
}
__device__ __forceinline__ Complex operator*(Complex a, Complex b) {
    return {a.r * b.r - a.i * b.i, a.r * b.i + a.i * b.r};
}
__device__ __forceinline__ Complex operator*(double s, Complex a) {
    return {s * a.r, s * a.i};
}
__device__ __forceinline__ Complex operator/(Complex a, Complex b) {
    double d = b.r * b.r + b.i * b.i;
    return {(a.r * b.r + a.i * b.i) / d, (a.i * b.r - a.r * b.i) / d};
}
__device__ double magnitude(Complex a) {
    return sqrt(a.r * a.r + a.i * a.i);
}
__device__ Complex cexp_fast(Complex z) {
    double e = exp(z.r);
    return {e * cos(z.i), e * sin(z.i)};
}

// w(z) for z in the upper half of the plane: a series near the origin, two poles far from it.
__device__ Complex faddeeva(Complex z) {
    if (magnitude(z) < 6.0) {
        const double an[10] = {2.758402e-01, 2.245740e-01, 1.594149e-01, 9.866577e-02, 5.324414e-02,
                               2.505215e-02, 1.027747e-02, 3.676164e-03, 1.146494e-03, 3.117570e-04};
        const double sign[10] = {-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0};
        const double denominator[10] = {9.869604e+00, 3.947842e+01, 8.882644e+01, 1.579137e+02, 2.467401e+02,
                                        3.553058e+02, 4.836106e+02, 6.316547e+02, 7.994380e+02, 9.869604e+02};
        Complex t1 = 12.0 * z;
        Complex t2 = cexp_fast({-t1.i, t1.r});
        Complex one = {1.0, 0.0}, i = {0.0, 1.0};
        Complex w = i * (one - t2) / t1;
        Complex sum = {0.0, 0.0}, square = t1 * t1;
        for (int n = 0; n < 10; n++) {
            Complex top = sign[n] * t2 - one;
            Complex bottom = Complex{denominator[n], 0.0} - square;
            sum = sum + an[n] * (top / bottom);
        }
        Complex factor = {0.0, 8.124330e+01};
        return w + factor * (z * sum);
    }
    Complex a = {0.512424224754768462984202823, 0.0}, b = {0.275255128608410950901357963, 0.0};
    Complex c = {0.051765358792987823963876629, 0.0}, d = {2.724744871391589049098642037, 0.0};
    Complex i = {0.0, 1.0}, square = z * z;
    return i * z * (a / (square - b) + c / (square - d));
}

__device__ void phases(double root, const double *k0, Complex *factor) {
    for (int l = 0; l < 4; l++) {
        double phi = k0[l] * root;
        switch (l) {
        case 1:
            phi -= atan(phi);
            break;
        case 2:
            phi -= atan(3.0 * phi / (3.0 - phi * phi));
            break;
        case 3:
            phi -= atan(phi * (15.0 - phi * phi) / (15.0 - 6.0 * phi * phi));
            break;
        }
        phi *= 2.0;
        factor[l] = {cos(phi), -sin(phi)};
    }
}

extern "C" __global__ void rs_poles(const double *__restrict__ energies, const int *__restrict__ materials,
                                    const int *__restrict__ first, const int *__restrict__ nuclides,
                                    const double *__restrict__ density, const Pole *__restrict__ poles,
                                    const Window *__restrict__ windows, const double *__restrict__ k0,
                                    double4 *__restrict__ macro, int lookups, int max_poles, int n_windows,
                                    double doppler_limit) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= lookups)
        return;
    double e = energies[id], root = sqrt(e);
    int material = materials[id];
    double total[4] = {0.0, 0.0, 0.0, 0.0};
    for (int n = first[material]; n < first[material + 1]; n++) {
        int nuclide = nuclides[n];
        Complex factor[4];
        phases(root, k0 + 4 * nuclide, factor);
        int w = min((int)(e * n_windows), n_windows - 1);
        Window window = windows[nuclide * n_windows + w];
        double sig_t = e * window.t, sig_a = e * window.a, sig_f = e * window.f;
        double broadening = 40.0 + 10.0 * k0[4 * nuclide];
        for (int p = window.start; p < window.end; p++) {
            Pole pole = poles[(long)nuclide * max_poles + p];
            Complex v;
            if (e < doppler_limit) {
                Complex z = broadening * (Complex{root, 0.0} - pole.ea);
                v = faddeeva(z);
            } else {
                Complex i = {0.0, 1.0};
                v = i / (pole.ea - Complex{root, 0.0});
                v = (1.0 / e) * v;
            }
            sig_t += (pole.rt * v * factor[pole.l]).r;
            sig_a += (pole.ra * v).r;
            sig_f += (pole.rf * v).r;
        }
        double xs[4] = {sig_t, sig_a, sig_f, sig_t - sig_a};
        for (int k = 0; k < 4; k++)
            total[k] += density[n] * xs[k];
    }
    macro[id] = make_double4(total[0], total[1], total[2], total[3]);
}
