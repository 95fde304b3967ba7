// Primes of segments: a CTA strikes out the multiples of small primes in shared memory, and counts the rest.
#define SEGMENT 16384

extern "C" __global__ void sieve(const int *primes, int count, int *found) {
    __shared__ unsigned char struck[SEGMENT];
    __shared__ int total;
    long long low = (long long)(blockIdx.x + 1) * SEGMENT;
    for (int i = threadIdx.x; i < SEGMENT; i += blockDim.x)
        struck[i] = 0;
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < count; k += blockDim.x) {
        int p = primes[k];
        int first = (int)((p - low % p) % p);
        for (int j = first; j < SEGMENT; j += p)
            struck[j] = 1;
    }
    __syncthreads();
    int mine = 0;
    for (int i = threadIdx.x; i < SEGMENT; i += blockDim.x)
        mine += !struck[i];
    atomicAdd(&total, mine);
    __syncthreads();
    if (threadIdx.x == 0)
        found[blockIdx.x] = total;
}
