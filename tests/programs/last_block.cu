// A sum in one launch: the CTA that finishes last adds up what all of them left in global memory.
__device__ unsigned finished = 0;

extern "C" __global__ void sum_in_one_launch(const unsigned *values, volatile unsigned *partial, unsigned *total, int n)
{
    __shared__ unsigned cta_sum;
    __shared__ bool last;
    if (threadIdx.x == 0)
        cta_sum = 0;
    __syncthreads();
    unsigned sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += values[i];
    atomicAdd(&cta_sum, sum);
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = cta_sum;
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        unsigned all = 0;
        for (unsigned cta = 0; cta < gridDim.x; ++cta)
            all += partial[cta];
        *total = all;
    }
}
