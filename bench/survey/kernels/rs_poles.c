// Cross sections by poles, in C's complex numbers by hand; the ten terms of a series side by side.
#include "native.h"

typedef struct {
    double r, i;
} Complex;

typedef struct {
    Complex ea, rt, ra, rf;
    int l;
} Pole;

typedef struct {
    double t, a, f;
    int start, end;
} Window;

static const double AN[10] = {2.758402e-01, 2.245740e-01, 1.594149e-01, 9.866577e-02, 5.324414e-02,
                              2.505215e-02, 1.027747e-02, 3.676164e-03, 1.146494e-03, 3.117570e-04};
static const double SIGN[10] = {-1, 1, -1, 1, -1, 1, -1, 1, -1, 1};
static const double DENOMINATOR[10] = {9.869604e+00, 3.947842e+01, 8.882644e+01, 1.579137e+02, 2.467401e+02,
                                       3.553058e+02, 4.836106e+02, 6.316547e+02, 7.994380e+02, 9.869604e+02};

static inline Complex times(Complex a, Complex b) {
    return (Complex){a.r * b.r - a.i * b.i, a.r * b.i + a.i * b.r};
}

static inline Complex over(Complex a, Complex b) {
    double f = 1 / (b.r * b.r + b.i * b.i);
    return (Complex){(a.r * b.r + a.i * b.i) * f, (a.i * b.r - a.r * b.i) * f};
}

static inline Complex faddeeva(Complex z) {
    if (z.r * z.r + z.i * z.i < 36) {
        Complex t1 = {12 * z.r, 12 * z.i}, square = times(t1, t1);
        double e = exp(-t1.i);
        Complex t2 = {e * cos(t1.r), e * sin(t1.r)};
        Complex w = over((Complex){t2.i, 1 - t2.r}, t1);
        double real = 0, imaginary = 0;
#pragma omp simd reduction(+ : real, imaginary)
        for (int n = 0; n < 10; n++) {
            double tr = SIGN[n] * t2.r - 1, ti = SIGN[n] * t2.i, br = DENOMINATOR[n] - square.r, bi = -square.i;
            double f = AN[n] / (br * br + bi * bi);
            real += (tr * br + ti * bi) * f;
            imaginary += (ti * br - tr * bi) * f;
        }
        Complex product = times(z, (Complex){real, imaginary});
        return (Complex){w.r - 8.124330e+01 * product.i, w.i + 8.124330e+01 * product.r};
    }
    Complex square = times(z, z);
    Complex one = over((Complex){0.512424224754768462984202823, 0},
                       (Complex){square.r - 0.275255128608410950901357963, square.i});
    Complex two = over((Complex){0.051765358792987823963876629, 0},
                       (Complex){square.r - 2.724744871391589049098642037, square.i});
    return times((Complex){-z.i, z.r}, (Complex){one.r + two.r, one.i + two.i});
}

void run(const double *restrict energies, const int *restrict materials, const int *restrict first,
         const int *restrict nuclides, const double *restrict density, const Pole *restrict poles,
         const Window *restrict windows, const double *restrict k0, double *restrict macro, int lookups, int max_poles,
         int n_windows, double doppler_limit) {
    for (int id = 0; id < lookups; id++) {
        double e = energies[id], root = sqrt(e), total[4] = {0};
        int material = materials[id], w = MIN((int)(e * n_windows), n_windows - 1);
        for (int n = first[material]; n < first[material + 1]; n++) {
            const double *k = k0 + 4 * nuclides[n];
            Complex factor[4];
            for (int l = 0; l < 4; l++) {
                double phi = k[l] * root, p2 = phi * phi;
                phi -= l == 0   ? 0
                       : l == 1 ? atan(phi)
                       : l == 2 ? atan(3 * phi / (3 - p2))
                                : atan(phi * (15 - p2) / (15 - 6 * p2));
                factor[l] = (Complex){cos(2 * phi), -sin(2 * phi)};
            }
            const Window *window = windows + nuclides[n] * n_windows + w;
            double t = e * window->t, a = e * window->a, f = e * window->f, broadening = 40 + 10 * k[0];
            for (int p = window->start; p < window->end; p++) {
                const Pole *pole = poles + (long)nuclides[n] * max_poles + p;
                Complex v;
                if (e < doppler_limit)
                    v = faddeeva((Complex){broadening * (root - pole->ea.r), -broadening * pole->ea.i});
                else {
                    v = over((Complex){0, 1}, (Complex){pole->ea.r - root, pole->ea.i});
                    v = (Complex){v.r / e, v.i / e};
                }
                t += times(times(pole->rt, v), factor[pole->l]).r;
                a += times(pole->ra, v).r;
                f += times(pole->rf, v).r;
            }
            total[0] += density[n] * t, total[1] += density[n] * a, total[2] += density[n] * f;
            total[3] += density[n] * (t - a);
        }
        memcpy(macro + 4L * id, total, sizeof total);
    }
}
