// Acoustic waves in three dimensions with differences of the eighth order, in double precision: a block goes up the z
// axis with a plane and its halo in shared memory and the column in registers; a sponge of PML kind damps the sides.
// Each step: update, source, receivers; every other step a slice is kept as a snapshot.
#define R 4
#define TX 32
#define TY 8

struct Grid {
    int nx, ny, nz;  // with ghost cells
};

#define IDX(g, i, j, k) (((long long)(k) * (g).ny + (j)) * (g).nx + (i))

__constant__ double c_coefficient[R + 1] = {-205.0 / 72.0, 8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0};

__device__ __forceinline__ double taper(int i, int n, int width, double strength) {
    const int edge = min(i - R, n - R - 1 - i);
    if (edge >= width)
        return 0.0;
    const double x = (double)(width - edge) / width;
    return strength * x * x;
}

extern "C" __global__ void __launch_bounds__(TX *TY)
    seis8_step(const double *__restrict__ p, double *__restrict__ p_old, const double *__restrict__ vel2, Grid g,
               double scale, int width, double strength) {
    __shared__ double plane[TY + 2 * R][TX + 2 * R];
    const int i = blockIdx.x * TX + threadIdx.x + R;
    const int j = blockIdx.y * TY + threadIdx.y + R;
    const bool inside = i < g.nx - R && j < g.ny - R;
    const int tx = threadIdx.x + R, ty = threadIdx.y + R;
    // Threads past the grid help to load, from places that exist.
    const int ic = min(i, g.nx - 1), jc = min(j, g.ny - 1);
    const long long stride = (long long)g.nx * g.ny;

    double behind[R], ahead[R], current;
#pragma unroll
    for (int r = 0; r < R; r++)
        behind[R - 1 - r] = p[IDX(g, ic, jc, r)];
    current = p[IDX(g, ic, jc, R)];
#pragma unroll
    for (int r = 0; r < R; r++)
        ahead[r] = p[IDX(g, ic, jc, R + 1 + r)];
    const double damp_xy = taper(i, g.nx, width, strength) + taper(j, g.ny, width, strength);

    for (int k = R; k < g.nz - R; k++) {
        __syncthreads();
        const long long at = IDX(g, ic, jc, k);
        plane[ty][tx] = current;
        if (threadIdx.y < R) {
            plane[threadIdx.y][tx] = p[IDX(g, ic, min(j - R, g.ny - 1), k)];
            plane[ty + TY][tx] = p[IDX(g, ic, min(j + TY, g.ny - 1), k)];
        }
        if (threadIdx.x < R) {
            plane[ty][threadIdx.x] = p[IDX(g, min(i - R, g.nx - 1), jc, k)];
            plane[ty][tx + TX] = p[IDX(g, min(i + TX, g.nx - 1), jc, k)];
        }
        __syncthreads();
        if (inside) {
            double laplacian = 3.0 * c_coefficient[0] * current;
#pragma unroll
            for (int r = 1; r <= R; r++)
                laplacian += c_coefficient[r] * (behind[r - 1] + ahead[r - 1] + plane[ty][tx - r] + plane[ty][tx + r] +
                                                 plane[ty - r][tx] + plane[ty + r][tx]);
            const double damp = damp_xy + taper(k, g.nz, width, strength);
            const double next = 2.0 * current - (1.0 - damp) * p_old[at] + scale * vel2[at] * laplacian;
            p_old[at] = next / (1.0 + damp);
        }
#pragma unroll
        for (int r = R - 1; r > 0; r--)
            behind[r] = behind[r - 1];
        behind[0] = current;
        current = ahead[0];
#pragma unroll
        for (int r = 0; r < R - 1; r++)
            ahead[r] = ahead[r + 1];
        if (k + R + 1 < g.nz)
            ahead[R - 1] = p[at + (R + 1) * stride];
    }
}

extern "C" __global__ void seis8_source(double *p, Grid g, int i, int j, int k, double t, double frequency) {
    if (threadIdx.x != 0 || blockIdx.x != 0)
        return;
    const double a = 3.14159265358979323846 * frequency * t;
    p[IDX(g, i, j, k)] += (1.0 - 2.0 * a * a) * exp(-a * a);
}

extern "C" __global__ void seis8_receivers(const double *__restrict__ p, const int *__restrict__ places, float *trace,
                                           Grid g, int count, int step) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count)
        return;
    const int *at = places + 3 * t;
    trace[step * count + t] = (float)p[IDX(g, at[0], at[1], at[2])];
}

extern "C" __global__ void seis8_snapshot(const double *__restrict__ p, float *__restrict__ slices, Grid g, int j,
                                          int which) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < g.nx && k < g.nz)
        slices[((long long)which * g.nz + k) * g.nx + i] = (float)p[IDX(g, i, j, k)];
}
