// Two-dimensional electromagnetic waves on a staggered grid: the magnetic field, then the electric one.
extern "C" __global__ void magnetic(const float *ez, float *hx, float *hy, int nx, int ny, float c) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < nx - 1 && y < ny - 1) {
        int i = y * nx + x;
        hx[i] -= c * (ez[i + nx] - ez[i]);
        hy[i] += c * (ez[i + 1] - ez[i]);
    }
}

extern "C" __global__ void electric(float *ez, const float *hx, const float *hy, const float *ce, int nx,
                                    int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < nx - 1 && y < ny - 1) {
        int i = y * nx + x;
        ez[i] += ce[i] * (hy[i] - hy[i - 1] - hx[i] + hx[i - nx]);
    }
}
