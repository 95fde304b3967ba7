extern "C" __global__ void classify(const float *f, const int *table, int *verts, int nx, int ny, int nz, float iso) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (nx - 1) * (ny - 1) * (nz - 1))
        return;
    int x = i % (nx - 1), y = i / (nx - 1) % (ny - 1), z = i / ((nx - 1) * (ny - 1));
    const float *p = f + (z * ny + y) * nx + x;
    int k = (p[0] < iso) | (p[1] < iso) << 1 | (p[nx + 1] < iso) << 2 | (p[nx] < iso) << 3;
    p += nx * ny;
    k |= (p[0] < iso) << 4 | (p[1] < iso) << 5 | (p[nx + 1] < iso) << 6 | (p[nx] < iso) << 7;
    verts[i] = table[k];
}
