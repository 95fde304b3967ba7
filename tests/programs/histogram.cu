// Histograms of bytes: straight into global memory, and by way of shared memory.
extern "C" __global__ void histogram_global(const unsigned char *data, unsigned *counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&counts[data[i]], 1u);
}

extern "C" __global__ void histogram_shared(const unsigned char *data, unsigned *counts, int n)
{
    __shared__ unsigned local_counts[256];
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
        local_counts[bin] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local_counts[data[i]], 1u);
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
        if (local_counts[bin])
            atomicAdd(&counts[bin], local_counts[bin]);
}
