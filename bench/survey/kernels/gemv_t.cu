extern "C" __global__ void gemv(const float *__restrict__ a, const float *__restrict__ x, float *y, int m,
                                int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= m)
        return;
    float s = 0;
    for (int j = 0; j < n; j++)
        s += a[(size_t)j * m + r] * x[j];
    y[r] = s;
}
