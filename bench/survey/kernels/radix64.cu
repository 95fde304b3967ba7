// Passes of a radix sort of 64-bit keys with 32-bit values, four bits each: counts of each block, their scan by one
// CTA, and a stable scatter, for which each thread counts the digits of four keys in a column of its own.
typedef unsigned long long Key;

#define THREADS 256
#define ITEMS 4
#define DIGITS 16

extern "C" __global__ void digit_counts(const Key *keys, unsigned *counts, int n, int shift) {
    __shared__ unsigned histogram[DIGITS];
    if (threadIdx.x < DIGITS)
        histogram[threadIdx.x] = 0;
    __syncthreads();
    int start = blockIdx.x * THREADS * ITEMS;
    for (int k = 0; k < ITEMS; k++) {
        int i = start + k * THREADS + threadIdx.x;
        if (i < n)
            atomicAdd(&histogram[keys[i] >> shift & (DIGITS - 1)], 1u);
    }
    __syncthreads();
    if (threadIdx.x < DIGITS)
        counts[threadIdx.x * gridDim.x + blockIdx.x] = histogram[threadIdx.x];
}

// Sum over the threads before this one, by doubling distances.
__device__ unsigned scan_threads(unsigned value, unsigned *sums) {
    sums[threadIdx.x] = value;
    __syncthreads();
    for (int d = 1; d < THREADS; d *= 2) {
        unsigned below = threadIdx.x >= d ? sums[threadIdx.x - d] : 0;
        __syncthreads();
        sums[threadIdx.x] += below;
        __syncthreads();
    }
    return sums[threadIdx.x] - value;
}

extern "C" __global__ void scan_digits(unsigned *counts, int n) {
    __shared__ unsigned sums[THREADS];
    int per_thread = (n + THREADS - 1) / THREADS;
    int begin = min((int)threadIdx.x * per_thread, n), end = min(begin + per_thread, n);
    unsigned sum = 0;
    for (int i = begin; i < end; i++)
        sum += counts[i];
    unsigned offset = scan_threads(sum, sums);
    for (int i = begin; i < end; i++) {
        unsigned count = counts[i];
        counts[i] = offset;
        offset += count;
    }
}

extern "C" __global__ void scatter_pairs(const Key *keys, const unsigned *values, Key *keys_out, unsigned *values_out,
                                         const unsigned *offsets, int n, int shift) {
    __shared__ unsigned short column[DIGITS * THREADS];
    __shared__ unsigned sums[THREADS];
    __shared__ unsigned base[DIGITS];
    int tid = threadIdx.x;

    for (int d = 0; d < DIGITS; d++)
        column[d * THREADS + tid] = 0;
    Key key[ITEMS];
    unsigned value[ITEMS];
    int digit[ITEMS], rank[ITEMS];
    int first = blockIdx.x * THREADS * ITEMS + tid * ITEMS;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        if (first + k < n) {
            key[k] = keys[first + k];
            value[k] = values[first + k];
            digit[k] = (int)(key[k] >> shift) & (DIGITS - 1);
            rank[k] = column[digit[k] * THREADS + tid]++;
        }
    }
    __syncthreads();

    // scan of all counters, a digit's threads side by side
    unsigned sum = 0;
    for (int d = 0; d < DIGITS; d++)
        sum += column[tid * DIGITS + d];
    unsigned running = scan_threads(sum, sums);
    for (int d = 0; d < DIGITS; d++) {
        unsigned count = column[tid * DIGITS + d];
        column[tid * DIGITS + d] = running;
        running += count;
    }
    __syncthreads();
    if (tid < DIGITS)
        base[tid] = offsets[tid * gridDim.x + blockIdx.x] - column[tid * THREADS];
    __syncthreads();

#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        if (first + k < n) {
            unsigned to = base[digit[k]] + column[digit[k] * THREADS + tid] + rank[k];
            keys_out[to] = key[k];
            values_out[to] = value[k];
        }
    }
}
