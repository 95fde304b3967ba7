// A dot product: trees in shared memory, and the last CTA to come adds up what all have left.
__device__ unsigned arrived;

extern "C" __global__ void dot_fence(const float *a, const float *b, volatile float *partial, float *out, int n) {
    __shared__ float s[256];
    __shared__ bool last;
    int t = threadIdx.x;
    float v = 0.0f;
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256)
        v += a[i] * b[i];
    s[t] = v;
    __syncthreads();
    for (int k = 128; k; k >>= 1) {
        if (t < k)
            s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        v = 0.0f;
        for (int i = t; i < gridDim.x; i += 256)
            v += partial[i];
        s[t] = v;
        __syncthreads();
        for (int k = 128; k; k >>= 1) {
            if (t < k)
                s[t] += s[t + k];
            __syncthreads();
        }
        if (t == 0)
            *out = s[0];
    }
}
