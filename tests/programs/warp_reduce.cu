// Reductions and votes within a warp, without shared memory.
#define FULL 0xffffffffu

// The sum and the largest value of each warp. Lanes past the end bring neutral values.
extern "C" __global__ void warp_sum_max(const int *values, int *sums, int *largest, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = i < n ? values[i] : 0;
    int most = i < n ? values[i] : -2147483647 - 1;
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(FULL, sum, offset);
        most = max(most, __shfl_xor_sync(FULL, most, offset));
    }
    if (threadIdx.x % 32 == 0) {
        sums[i / 32] = sum;
        largest[i / 32] = most;
    }
}

// Lane i receives the double of lane table[i] within its segment of 8 lanes.
extern "C" __global__ void warp_gather_f64(const double *values, const int *table, double *result)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    result[i] = __shfl_sync(FULL, values[i], table[i], 8);
}

// Packs the positions of the positive values, in order, at the front of each warp's 32 slots.
extern "C" __global__ void warp_compact(const int *values, int *positions, int *counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned lane = threadIdx.x % 32;
    bool keep = i < n && values[i] > 0;
    unsigned kept = __ballot_sync(FULL, keep);
    if (keep)
        positions[i - lane + __popc(kept & ((1u << lane) - 1))] = i;
    if (lane == 0)
        counts[i / 32] = __popc(kept);
}

// Bit 0: all positive, bit 1: any above 100; among those lanes of the warp that are in range.
extern "C" __global__ void warp_votes(const int *values, int *votes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned present = __ballot_sync(FULL, i < n);
    if (i < n) {
        int all = __all_sync(present, values[i] > 0);
        int any = __any_sync(present, values[i] > 100);
        votes[i] = all | any << 1;
    }
}
