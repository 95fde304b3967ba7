extern "C" __global__ void mm(const double *a, const double *b, double *c, int n) {
    __shared__ double s[16][16], t[16][16];
    int x = threadIdx.x, y = threadIdx.y, r = blockIdx.y * 16 + y, q = blockIdx.x * 16 + x;
    double v = 0;
    for (int k = 0; k < n; k += 16) {
        s[y][x] = a[r * n + k + x];
        t[y][x] = b[(k + y) * n + q];
        __syncthreads();
        for (int i = 0; i < 16; i++)
            v += s[y][i] * t[i][x];
        __syncthreads();
    }
    c[r * n + q] = v;
}
