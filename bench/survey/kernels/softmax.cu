extern "C" __global__ void sm(const float *x, float *y, int rows, int n) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, l = threadIdx.x % 32;
    if (row >= rows)
        return;
    const float *p = x + (size_t)row * n;
    float *o = y + (size_t)row * n;
    float m = -INFINITY;
    for (int i = l; i < n; i += 32)
        m = fmaxf(m, p[i]);
    for (int k = 16; k; k >>= 1)
        m = fmaxf(m, __shfl_xor_sync(~0u, m, k));
    float s = 0;
    for (int i = l; i < n; i += 32) {
        float e = expf(p[i] - m);
        o[i] = e;
        s += e;
    }
    for (int k = 16; k; k >>= 1)
        s += __shfl_xor_sync(~0u, s, k);
    float r = 1.0f / s;
    for (int i = l; i < n; i += 32)
        o[i] *= r;
}
