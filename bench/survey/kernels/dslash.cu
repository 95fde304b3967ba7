// Lattice QCD: out = in - kappa D in with Wilson's hopping term D on a four-dimensional torus. Spinors and links lie
// component by component, so neighbouring threads read neighbouring numbers.
struct Complex {
    float re, im;
};
__device__ __forceinline__ Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
__device__ __forceinline__ Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
__device__ __forceinline__ Complex i_times(Complex a) { return {-a.im, a.re}; }
__device__ __forceinline__ Complex conj(Complex a) { return {a.re, -a.im}; }
__device__ __forceinline__ void add_product(Complex &s, Complex a, Complex b) {
    s.re += a.re * b.re - a.im * b.im;
    s.im += a.re * b.im + a.im * b.re;
}

struct Lattice {
    int extent[4];

    __device__ int volume() const { return extent[0] * extent[1] * extent[2] * extent[3]; }

    template <int MU, int WAY>
    __device__ int neighbour(const int (&x)[4]) const {
        int y[4] = {x[0], x[1], x[2], x[3]};
        y[MU] += WAY;
        if (y[MU] == extent[MU])
            y[MU] = 0;
        if (y[MU] < 0)
            y[MU] = extent[MU] - 1;
        return ((y[3] * extent[2] + y[2]) * extent[1] + y[1]) * extent[0] + y[0];
    }
};

template <int SIGN>
__device__ __forceinline__ Complex plus(Complex a, Complex b) {
    return SIGN > 0 ? a + b : a - b;
}

// Upper half of (1 + SIGN gamma_MU) psi, of which the lower half follows.
template <int MU, int SIGN>
__device__ __forceinline__ void project(const Complex (&p)[4], Complex &h0, Complex &h1) {
    if constexpr (MU == 0) {
        h0 = plus<SIGN>(p[0], i_times(p[3]));
        h1 = plus<SIGN>(p[1], i_times(p[2]));
    } else if constexpr (MU == 1) {
        h0 = plus<-SIGN>(p[0], p[3]);
        h1 = plus<SIGN>(p[1], p[2]);
    } else if constexpr (MU == 2) {
        h0 = plus<SIGN>(p[0], i_times(p[2]));
        h1 = plus<-SIGN>(p[1], i_times(p[3]));
    } else {
        h0 = plus<SIGN>(p[0], p[2]);
        h1 = plus<SIGN>(p[1], p[3]);
    }
}

template <int MU, int SIGN>
__device__ __forceinline__ void expand(Complex (&sum)[4][3], int c, Complex h0, Complex h1) {
    sum[0][c] = sum[0][c] + h0;
    sum[1][c] = sum[1][c] + h1;
    if constexpr (MU == 0) {
        sum[2][c] = plus<-SIGN>(sum[2][c], i_times(h1));
        sum[3][c] = plus<-SIGN>(sum[3][c], i_times(h0));
    } else if constexpr (MU == 1) {
        sum[2][c] = plus<SIGN>(sum[2][c], h1);
        sum[3][c] = plus<-SIGN>(sum[3][c], h0);
    } else if constexpr (MU == 2) {
        sum[2][c] = plus<-SIGN>(sum[2][c], i_times(h0));
        sum[3][c] = plus<SIGN>(sum[3][c], i_times(h1));
    } else {
        sum[2][c] = plus<SIGN>(sum[2][c], h0);
        sum[3][c] = plus<SIGN>(sum[3][c], h1);
    }
}

template <int MU, bool FORWARD>
__device__ __forceinline__ void hop(const Complex *__restrict__ in, const Complex *__restrict__ links,
                                    const Lattice &lattice, const int (&x)[4], int site, Complex (&sum)[4][3]) {
    constexpr int SIGN = FORWARD ? -1 : 1;
    const int volume = lattice.volume(), other = lattice.neighbour<MU, -SIGN>(x);
    const Complex *link = links + (size_t)MU * 9 * volume + (FORWARD ? site : other);
    Complex half[2][3];
#pragma unroll
    for (int c = 0; c < 3; c++) {
        Complex p[4];
#pragma unroll
        for (int s = 0; s < 4; s++)
            p[s] = in[(size_t)(s * 3 + c) * volume + other];
        project<MU, SIGN>(p, half[0][c], half[1][c]);
    }
#pragma unroll
    for (int a = 0; a < 3; a++) {
        Complex h0 = {0, 0}, h1 = {0, 0};
#pragma unroll
        for (int b = 0; b < 3; b++) {
            Complex u = FORWARD ? link[(size_t)(a * 3 + b) * volume] : conj(link[(size_t)(b * 3 + a) * volume]);
            add_product(h0, u, half[0][b]);
            add_product(h1, u, half[1][b]);
        }
        expand<MU, SIGN>(sum, a, h0, h1);
    }
}

extern "C" __global__ void __launch_bounds__(128) dslash(const Complex *__restrict__ in,
                                                         const Complex *__restrict__ links, Complex *__restrict__ out,
                                                         Lattice lattice, float kappa) {
    int site = blockIdx.x * blockDim.x + threadIdx.x;
    const int volume = lattice.volume();
    if (site >= volume)
        return;
    int x[4], rest = site;
#pragma unroll
    for (int mu = 0; mu < 4; mu++) {
        x[mu] = rest % lattice.extent[mu];
        rest /= lattice.extent[mu];
    }
    Complex sum[4][3] = {};
    hop<0, true>(in, links, lattice, x, site, sum);
    hop<0, false>(in, links, lattice, x, site, sum);
    hop<1, true>(in, links, lattice, x, site, sum);
    hop<1, false>(in, links, lattice, x, site, sum);
    hop<2, true>(in, links, lattice, x, site, sum);
    hop<2, false>(in, links, lattice, x, site, sum);
    hop<3, true>(in, links, lattice, x, site, sum);
    hop<3, false>(in, links, lattice, x, site, sum);
#pragma unroll
    for (int s = 0; s < 4; s++)
#pragma unroll
        for (int c = 0; c < 3; c++) {
            size_t at = (size_t)(s * 3 + c) * volume + site;
            Complex old = in[at];
            out[at] = {old.re - kappa * sum[s][c].re, old.im - kappa * sum[s][c].im};
        }
}
