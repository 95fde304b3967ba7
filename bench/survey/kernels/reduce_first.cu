// The sums that every course begins with: threads whose number is a multiple of the step, then packed ones.
extern "C" __global__ void by_multiples(const int *__restrict__ in, int *__restrict__ out) {
    __shared__ int s[256];
    unsigned tid = threadIdx.x;
    s[tid] = in[blockIdx.x * blockDim.x + tid];
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        if (tid % (2 * step) == 0)
            s[tid] += s[tid + step];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = s[0];
}

extern "C" __global__ void by_packed(const int *__restrict__ in, int *__restrict__ out) {
    __shared__ int s[256];
    unsigned tid = threadIdx.x;
    s[tid] = in[blockIdx.x * blockDim.x + tid];
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        unsigned i = 2 * step * tid;
        if (i < blockDim.x)
            s[i] += s[i + step];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = s[0];
}
