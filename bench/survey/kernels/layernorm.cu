__inline__ __device__ float wsum(float v) {
    for (int o = 16; o; o >>= 1)
        v += __shfl_xor_sync(~0u, v, o);
    return v;
}

extern "C" __global__ void ln(const float *x, const float *g, const float *b, float *y, int n, float eps) {
    __shared__ float s1[8], s2[8];
    const float *r = x + (size_t)blockIdx.x * n;
    float *o = y + (size_t)blockIdx.x * n;
    float a = 0, q = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = r[i];
        a += v;
        q += v * v;
    }
    a = wsum(a);
    q = wsum(q);
    int w = threadIdx.x / 32, l = threadIdx.x % 32;
    if (l == 0) {
        s1[w] = a;
        s2[w] = q;
    }
    __syncthreads();
    a = l < blockDim.x / 32 ? s1[l] : 0;
    q = l < blockDim.x / 32 ? s2[l] : 0;
    a = wsum(a);
    q = wsum(q);
    float m = a / n, inv = rsqrtf(q / n - m * m + eps);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        o[i] = (r[i] - m) * inv * g[i] + b[i];
}
