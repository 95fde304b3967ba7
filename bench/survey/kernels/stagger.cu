// Lattice QCD with staggered quarks: out = m in + D in on a periodic lattice of four dimensions, whose links are
// matrices of SU(3), one array for each of their parts; and the mean plaquette, summed up by two kernels.
#include <cuda_runtime.h>

struct Lattice {
    int n[4];
    int volume;
};

__device__ inline double2 operator+(double2 a, double2 b) { return make_double2(a.x + b.x, a.y + b.y); }
__device__ inline double2 operator-(double2 a, double2 b) { return make_double2(a.x - b.x, a.y - b.y); }
__device__ inline double2 operator*(double s, double2 a) { return make_double2(s * a.x, s * a.y); }
__device__ inline double2 operator*(double2 a, double2 b) {
    return make_double2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__device__ inline double2 conj(double2 a) { return make_double2(a.x, -a.y); }

struct Su3 {
    double2 m[3][3];
};

__device__ inline Su3 load_link(const double2 *__restrict__ links, int mu, int site, const Lattice &lat) {
    Su3 u;
#pragma unroll
    for (int c = 0; c < 9; c++)
        u.m[c / 3][c % 3] = links[((long long)mu * 9 + c) * lat.volume + site];
    return u;
}

__device__ inline void coordinates(int site, const Lattice &lat, int x[4]) {
    for (int mu = 0; mu < 4; mu++) {
        x[mu] = site % lat.n[mu];
        site /= lat.n[mu];
    }
}

__device__ inline int neighbour(const int x[4], const Lattice &lat, int mu, int step) {
    int site = 0;
#pragma unroll
    for (int d = 3; d >= 0; d--) {
        int c = x[d];
        if (d == mu) {
            c += step;
            if (c >= lat.n[d]) c -= lat.n[d];
            if (c < 0) c += lat.n[d];
        }
        site = site * lat.n[d] + c;
    }
    return site;
}

extern "C" __global__ void stagger_dslash(const double2 *__restrict__ links, const double2 *__restrict__ in,
                                          double2 *__restrict__ out, Lattice lat, double mass) {
    const int site = blockIdx.x * blockDim.x + threadIdx.x;
    if (site >= lat.volume)
        return;
    int x[4];
    coordinates(site, lat, x);
    double2 sum[3] = {};
    int before = 0;
    for (int mu = 0; mu < 4; mu++) {
        const double eta = (before & 1) ? -0.5 : 0.5;
        before += x[mu];
        const int forth = neighbour(x, lat, mu, 1), back = neighbour(x, lat, mu, -1);
        const Su3 u = load_link(links, mu, site, lat);
        double2 v[3];
        for (int c = 0; c < 3; c++)
            v[c] = in[c * lat.volume + forth];
        for (int r = 0; r < 3; r++)
            sum[r] = sum[r] + eta * (u.m[r][0] * v[0] + u.m[r][1] * v[1] + u.m[r][2] * v[2]);
        const Su3 w = load_link(links, mu, back, lat);
        for (int c = 0; c < 3; c++)
            v[c] = in[c * lat.volume + back];
        for (int r = 0; r < 3; r++)
            sum[r] = sum[r] - eta * (conj(w.m[0][r]) * v[0] + conj(w.m[1][r]) * v[1] + conj(w.m[2][r]) * v[2]);
    }
    for (int c = 0; c < 3; c++)
        out[c * lat.volume + site] = mass * in[c * lat.volume + site] + sum[c];
}

__device__ Su3 times(const Su3 &a, const Su3 &b) {
    Su3 c;
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int j = 0; j < 3; j++)
            c.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
    return c;
}

extern "C" __global__ void stagger_plaquette(const double2 *__restrict__ links, double *__restrict__ partial,
                                             Lattice lat) {
    __shared__ double sums[128];
    const int site = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0.0;
    if (site < lat.volume) {
        int x[4];
        coordinates(site, lat, x);
        for (int mu = 0; mu < 3; mu++)
            for (int nu = mu + 1; nu < 4; nu++) {
                const Su3 up = times(load_link(links, mu, site, lat),
                                     load_link(links, nu, neighbour(x, lat, mu, 1), lat));
                const Su3 other = times(load_link(links, nu, site, lat),
                                        load_link(links, mu, neighbour(x, lat, nu, 1), lat));
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++)
                        sum += up.m[i][j].x * other.m[i][j].x + up.m[i][j].y * other.m[i][j].y;
            }
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sums[0];
}

extern "C" __global__ void stagger_mean(const double *__restrict__ partial, double *mean, int blocks, int volume) {
    double sum = 0.0;
    for (int i = threadIdx.x; i < blocks; i += 32)
        sum += partial[i];
    for (int offset = 16; offset > 0; offset >>= 1)
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x == 0)
        *mean = sum / (18.0 * volume);
}
