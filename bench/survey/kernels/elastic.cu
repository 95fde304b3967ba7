// Elastic waves (P and SV) on a staggered grid, of the fourth order in space: speeds from stresses, then stresses from
// speeds, each from tiles with a halo of two; a sponge at the borders and a source that pushes outward.
#define TX 32
#define TY 8
#define R 2
#define C1 1.125f
#define C2 (-1.0f / 24.0f)

struct Tile {
    float at[TY + 2 * R][TX + 2 * R];

    __device__ void load(const float *__restrict__ from, int nx, int nz) {
        for (int j = threadIdx.y; j < TY + 2 * R; j += TY)
            for (int i = threadIdx.x; i < TX + 2 * R; i += TX) {
                int x = blockIdx.x * TX + i - R, z = blockIdx.y * TY + j - R;
                bool inside = x >= 0 && x < nx && z >= 0 && z < nz;
                at[j][i] = inside ? from[z * nx + x] : 0.0f;
            }
    }
    // Derivatives at half a cell before (-) or after (+) the cell.
    __device__ float dx_after(int j, int i) const {
        return C1 * (at[j][i + 1] - at[j][i]) + C2 * (at[j][i + 2] - at[j][i - 1]);
    }
    __device__ float dx_before(int j, int i) const {
        return C1 * (at[j][i] - at[j][i - 1]) + C2 * (at[j][i + 1] - at[j][i - 2]);
    }
    __device__ float dz_after(int j, int i) const {
        return C1 * (at[j + 1][i] - at[j][i]) + C2 * (at[j + 2][i] - at[j - 1][i]);
    }
    __device__ float dz_before(int j, int i) const {
        return C1 * (at[j][i] - at[j - 1][i]) + C2 * (at[j + 1][i] - at[j - 2][i]);
    }
};

extern "C" __global__ void elastic_velocity(float *__restrict__ vx, float *__restrict__ vz,
                                            const float *__restrict__ sxx, const float *__restrict__ szz,
                                            const float *__restrict__ sxz, const float *__restrict__ buoyancy,
                                            const float *__restrict__ sponge, int nx, int nz, float dt_h) {
    __shared__ Tile xx, zz, xz;
    xx.load(sxx, nx, nz);
    zz.load(szz, nx, nz);
    xz.load(sxz, nx, nz);
    __syncthreads();
    int x = blockIdx.x * TX + threadIdx.x, z = blockIdx.y * TY + threadIdx.y;
    if (x >= nx || z >= nz)
        return;
    int i = threadIdx.x + R, j = threadIdx.y + R, p = z * nx + x;
    float b = buoyancy[p] * dt_h, damp = sponge[p];
    vx[p] = damp * (vx[p] + b * (xx.dx_before(j, i) + xz.dz_before(j, i)));
    vz[p] = damp * (vz[p] + b * (xz.dx_after(j, i) + zz.dz_after(j, i)));
}

extern "C" __global__ void elastic_stress(const float *__restrict__ vx, const float *__restrict__ vz,
                                          float *__restrict__ sxx, float *__restrict__ szz, float *__restrict__ sxz,
                                          const float *__restrict__ lambda, const float *__restrict__ mu,
                                          const float *__restrict__ sponge, const float *__restrict__ wavelet, int nx,
                                          int nz, float dt_h, int source_x, int source_z, int step) {
    __shared__ Tile tx, tz;
    tx.load(vx, nx, nz);
    tz.load(vz, nx, nz);
    __syncthreads();
    int x = blockIdx.x * TX + threadIdx.x, z = blockIdx.y * TY + threadIdx.y;
    if (x >= nx || z >= nz)
        return;
    int i = threadIdx.x + R, j = threadIdx.y + R, p = z * nx + x;
    float dvx = tx.dx_after(j, i), dvz = tz.dz_before(j, i);
    float la = lambda[p], m = mu[p], damp = sponge[p];
    float push = x == source_x && z == source_z ? wavelet[step] : 0.0f;
    sxx[p] = damp * (sxx[p] + dt_h * ((la + 2.0f * m) * dvx + la * dvz)) + push;
    szz[p] = damp * (szz[p] + dt_h * (la * dvx + (la + 2.0f * m) * dvz)) + push;
    sxz[p] = damp * (sxz[p] + dt_h * m * (tx.dz_after(j, i) + tz.dx_before(j, i)));
}
