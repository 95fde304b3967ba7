extern "C" __global__ void tr(float *a, int n) {
    __shared__ float s[32][33], d[32][33];
    int bx = blockIdx.x, by = blockIdx.y;
    if (bx < by)
        return;
    int x = threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8) {
        s[y][x] = a[(by * 32 + y) * n + bx * 32 + x];
        d[y][x] = a[(bx * 32 + y) * n + by * 32 + x];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8) {
        a[(bx * 32 + y) * n + by * 32 + x] = s[x][y];
        a[(by * 32 + y) * n + bx * 32 + x] = d[x][y];
    }
}
