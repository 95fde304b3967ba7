// The product of two vectors: each warp adds up by shuffles what its lanes found, without shared memory.
extern "C" __global__ void dot_warps(const float *__restrict__ a, const float *__restrict__ b, float *sum, int n) {
    float own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        own += a[i] * b[i];
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        own += __shfl_down_sync(0xffffffff, own, offset);
    if (threadIdx.x % warpSize == 0)
        atomicAdd(sum, own);
}
