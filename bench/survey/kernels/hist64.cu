// Counts of 64 values: each thread has bytes of its own in shared memory, as there were no atomic operations.
extern "C" __global__ void hist64(const unsigned *__restrict__ data, unsigned *__restrict__ partial, int words) {
    __shared__ unsigned char counts[64 * 64];
    __shared__ unsigned sums[64];
    int tid = threadIdx.x;
    for (int i = 0; i < 16; i++)
        ((unsigned *)counts)[tid + i * 64] = 0;
    __syncthreads();
    int start = blockIdx.x * 64 * 60;
    for (int k = 0; k < 60; k++) {
        int at = start + k * 64 + tid;
        if (at < words) {
            unsigned w = data[at];
            counts[tid + (w >> 2 & 63) * 64]++;
            counts[tid + (w >> 10 & 63) * 64]++;
            counts[tid + (w >> 18 & 63) * 64]++;
            counts[tid + (w >> 26 & 63) * 64]++;
        }
    }
    __syncthreads();
    unsigned sum = 0;
    for (int i = 0; i < 64; i++)
        sum += counts[tid * 64 + (i + tid & 63)];
    sums[tid] = sum;
    atomicAdd(partial + tid, sums[tid]);
}
