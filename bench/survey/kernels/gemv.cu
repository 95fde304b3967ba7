extern "C" __global__ void gemv(const float *__restrict__ a, const float *__restrict__ x, float *y, int m,
                                int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, l = threadIdx.x & 31;
    if (row >= m)
        return;
    float s = 0;
    for (int j = l; j < n; j += 32)
        s += a[(size_t)row * n + j] * x[j];
    for (int o = 16; o; o /= 2)
        s += __shfl_down_sync(~0u, s, o);
    if (l == 0)
        y[row] = s;
}
