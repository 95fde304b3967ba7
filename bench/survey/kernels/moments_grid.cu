// Sums of squares of differences, by all threads of a grid; one for each warp.
extern "C" __global__ void moments_grid(const float *x, const float *y, float *sums, long n) {
    float sum = 0;
    for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += blockDim.x * (long)gridDim.x) {
        float d = x[i] - y[i];
        sum += d * d;
    }
    for (int k = 16; k > 0; k /= 2)
        sum += __shfl_xor_sync(~0u, sum, k);
    if (threadIdx.x % 32 == 0)
        sums[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = sum;
}
