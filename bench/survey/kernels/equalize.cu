// A histogram's equalization: counts in shared memory, then a table that every pixel is looked up in.
extern "C" __global__ void count(const unsigned char *in, unsigned *counts, int n) {
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&local[in[i]], 1);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}

extern "C" __global__ void sums(const unsigned *counts, float *cdf, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = counts[t] / (float)n;
    for (int k = 1; k < 256; k *= 2) {
        __syncthreads();
        float v = t >= k ? s[t - k] : 0.0f;
        __syncthreads();
        s[t] += v;
    }
    cdf[t] = s[t];
}

extern "C" __global__ void apply(const unsigned char *in, unsigned char *out, const float *cdf, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = 255.0f * (cdf[in[i]] - cdf[0]) / (1.0f - cdf[0]);
        out[i] = (unsigned char)fminf(fmaxf(v, 0.0f), 255.0f);
    }
}
