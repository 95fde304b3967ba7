// Random walks with restart on a weighted graph: a thread a walk from a seed vertex, the next edge by binary search in
// running sums of weights, visits counted; then each seed's most visited vertices by a block.
#include <cstdint>

__device__ __forceinline__ uint32_t pcg(uint64_t &state) {
    uint64_t old = state;
    state = old * 6364136223846793005ull + 1442695040888963407ull;
    uint32_t mixed = (uint32_t)(((old >> 18) ^ old) >> 27);
    int turn = (int)(old >> 59);
    return mixed >> turn | mixed << (-turn & 31);
}

extern "C" __global__ void rwr_walk(const int *__restrict__ row_start, const int *__restrict__ column,
                                    const uint32_t *__restrict__ weight_sum, const int *__restrict__ seeds,
                                    unsigned *__restrict__ visits, int vertices, int walks, int steps,
                                    uint32_t restart) {
    int walk = blockIdx.x * blockDim.x + threadIdx.x;
    int which = blockIdx.y;
    if (walk >= walks)
        return;
    const int seed = seeds[which];
    uint64_t state = ((uint64_t)which << 32 | walk) * 0x9E3779B97F4A7C15ull;
    unsigned *count = visits + (size_t)which * vertices;
    int at = seed;
    for (int step = 0; step < steps; step++) {
        int begin = row_start[at], end = row_start[at + 1];
        if (begin == end || pcg(state) < restart) {
            at = seed;
            continue;
        }
        uint32_t draw = __umulhi(pcg(state), weight_sum[end - 1]);
        int low = begin, high = end - 1;
        while (low < high) {
            int middle = (low + high) >> 1;
            if (weight_sum[middle] > draw)
                high = middle;
            else
                low = middle + 1;
        }
        at = column[low];
        atomicAdd(&count[at], 1u);
    }
}

// The `k` vertices that were visited most, one round of reduction each; equal ones by number.
extern "C" __global__ void rwr_top(const unsigned *__restrict__ visits, int *__restrict__ top, int vertices, int k) {
    __shared__ unsigned long long keys[128];
    const unsigned *count = visits + (size_t)blockIdx.x * vertices;
    unsigned long long bound = ~0ull;
    for (int round = 0; round < k; round++) {
        unsigned long long best = 0;
        for (int v = threadIdx.x; v < vertices; v += blockDim.x) {
            unsigned long long key = (unsigned long long)count[v] << 32 | (0xffffffffu - v);
            if (key < bound && key > best)
                best = key;
        }
        keys[threadIdx.x] = best;
        __syncthreads();
        for (int s = 64; s > 0; s >>= 1) {
            if (threadIdx.x < s)
                keys[threadIdx.x] = max(keys[threadIdx.x], keys[threadIdx.x + s]);
            __syncthreads();
        }
        bound = keys[0];
        if (threadIdx.x == 0)
            top[blockIdx.x * k + round] = (int)(0xffffffffu - (uint32_t)bound);
        __syncthreads();
    }
}
