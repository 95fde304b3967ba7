// Lattice Boltzmann with 19 directions in a periodic box with walls inside: each cell pulls, collides and is driven.
#define Q 19

__constant__ int cx[Q] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
__constant__ int cy[Q] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
__constant__ int cz[Q] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};
__constant__ int opposite[Q] = {0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15, 18, 17};
__constant__ float weight[Q] = {1.0f / 3,  1.0f / 18, 1.0f / 18, 1.0f / 18, 1.0f / 18, 1.0f / 18, 1.0f / 18,
                                1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36,
                                1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};

extern "C" __global__ void d3q19(const float *__restrict__ f, float *__restrict__ f_new,
                                 const unsigned char *__restrict__ solid, int nx, int ny, int nz, float omega,
                                 float force) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz)
        return;
    int cells = nx * ny * nz;
    int cell = (z * ny + y) * nx + x;

    float in[Q];
#pragma unroll
    for (int q = 0; q < Q; q++) {
        int sx = (x - cx[q] + nx) % nx;
        int sy = (y - cy[q] + ny) % ny;
        int sz = (z - cz[q] + nz) % nz;
        in[q] = f[q * cells + (sz * ny + sy) * nx + sx];
    }

    if (solid[cell]) {
#pragma unroll
        for (int q = 0; q < Q; q++)
            f_new[opposite[q] * cells + cell] = in[q];
        return;
    }

    float rho = 0.0f, ux = 0.0f, uy = 0.0f, uz = 0.0f;
#pragma unroll
    for (int q = 0; q < Q; q++) {
        rho += in[q];
        ux += cx[q] * in[q];
        uy += cy[q] * in[q];
        uz += cz[q] * in[q];
    }
    ux = ux / rho + force / omega;
    uy /= rho;
    uz /= rho;
    float usq = 1.5f * (ux * ux + uy * uy + uz * uz);

#pragma unroll
    for (int q = 0; q < Q; q++) {
        float cu = 3.0f * (cx[q] * ux + cy[q] * uy + cz[q] * uz);
        float feq = weight[q] * rho * (1.0f + cu + 0.5f * cu * cu - usq);
        f_new[q * cells + cell] = in[q] + omega * (feq - in[q]);
    }
}
