// Group by: each CTA counts and sums in a hash table in shared memory, then adds it to the one of all.
#define SIZE 512
extern "C" __global__ void groupby(const int *__restrict__ key, const int *__restrict__ value, int *__restrict__ counts, int *__restrict__ sums, int n, int per) {
    __shared__ int keys[SIZE], c[SIZE], s[SIZE];
    for (int i = threadIdx.x; i < SIZE; i += blockDim.x) {
        keys[i] = -1;
        c[i] = s[i] = 0;
    }
    __syncthreads();
    int first = blockIdx.x * per, last = min(first + per, n);
    for (int i = first + threadIdx.x; i < last; i += blockDim.x) {
        int k = key[i], h = k * 7919 & (SIZE - 1);
        while (true) {
            int old = atomicCAS(&keys[h], -1, k);
            if (old == -1 || old == k)
                break;
            h = (h + 1) & (SIZE - 1);
        }
        atomicAdd(&c[h], 1);
        atomicAdd(&s[h], value[i]);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < SIZE; i += blockDim.x)
        if (keys[i] >= 0) {
            atomicAdd(&counts[keys[i]], c[i]);
            atomicAdd(&sums[keys[i]], s[i]);
        }
}
