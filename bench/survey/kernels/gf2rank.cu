// The binary matrix rank test of random bits: a warp holds a matrix of 32 x 32 bits, a row in each lane; pivots are
// found by ballots, and ranks counted in shared memory by block.
#define WARPS 5

extern "C" __global__ void gf2rank(const unsigned char *__restrict__ stream, unsigned char *__restrict__ ranks,
                                   unsigned *histogram, int matrices) {
    __shared__ unsigned counts[33];
    for (int i = threadIdx.x; i < 33; i += blockDim.x)
        counts[i] = 0;
    __syncthreads();

    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int m = blockIdx.x * WARPS + warp; m < matrices; m += gridDim.x * WARPS) {
        unsigned row;
        memcpy(&row, stream + 128ll * m + 4 * lane + 1, sizeof row);  // the stream starts with a byte of its version
        row = __brev(row);
        bool used = false;
        int rank = 0;
        for (int column = 0; column < 32; column++) {
            bool candidate = !used && (row >> column & 1);
            unsigned ballot = __ballot_sync(0xffffffff, candidate);
            if (!ballot)
                continue;
            int pivot = __ffs(ballot) - 1;
            unsigned pivot_row = __shfl_sync(0xffffffff, row, pivot);
            if (lane == pivot)
                used = true;
            else if (row >> column & 1)
                row ^= pivot_row;
            rank++;
        }
        if (lane == 0) {
            ranks[m] = rank;
            atomicAdd(&counts[rank], 1u);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 33; i += blockDim.x)
        if (counts[i])
            atomicAdd(&histogram[i], counts[i]);
}
