// One sum for each CTA by a tree in shared memory. The CTA's size is a power of two up to 256.
template <typename T> __device__ void reduce(const T *values, T *sums, int n)
{
    __shared__ T partial[256];
    unsigned t = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x * 2 + t;
    T sum = i < n ? values[i] : T(0);
    if (i + blockDim.x < n)
        sum += values[i + blockDim.x];
    partial[t] = sum;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half)
            partial[t] += partial[t + half];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = partial[0];
}

extern "C" __global__ void block_sum_u32(const unsigned *values, unsigned *sums, unsigned n)
{
    reduce(values, sums, n);
}

extern "C" __global__ void block_sum_f32(const float *values, float *sums, unsigned n)
{
    reduce(values, sums, n);
}
