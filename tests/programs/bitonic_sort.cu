// Bitonic sort of 2^k keys: one pass over global memory, and a whole CTA's part in shared memory.
__device__ void exchange(unsigned *keys, unsigned i, unsigned other, bool ascending)
{
    unsigned a = keys[i], b = keys[other];
    if ((a > b) == ascending) {
        keys[i] = b;
        keys[other] = a;
    }
}

extern "C" __global__ void bitonic_pass(unsigned *keys, unsigned n, unsigned distance, unsigned size)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned other = i ^ distance;
    if (i < n && other > i)
        exchange(keys, i, other, (i & size) == 0);
}

// Sorts runs of 2 * blockDim.x keys, upwards.
extern "C" __global__ void bitonic_block(unsigned *keys)
{
    __shared__ unsigned part[512];
    unsigned t = threadIdx.x, run = 2 * blockDim.x;
    unsigned *mine = keys + blockIdx.x * run;
    part[t] = mine[t];
    part[t + blockDim.x] = mine[t + blockDim.x];
    for (unsigned size = 2; size <= run; size *= 2)
        for (unsigned distance = size / 2; distance > 0; distance /= 2) {
            __syncthreads();
            unsigned i = 2 * t - (t & (distance - 1));
            exchange(part, i, i + distance, (i & size) == 0);
        }
    __syncthreads();
    mine[t] = part[t];
    mine[t + blockDim.x] = part[t + blockDim.x];
}
