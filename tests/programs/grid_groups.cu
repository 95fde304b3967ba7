// Cooperative groups of the whole grid: barriers, halves of barriers, ranks; and CTAs that wait for later ones.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void relax(unsigned *from, unsigned *to, unsigned n, unsigned steps) {
    // Every step reads what the whole grid wrote in the one before.
    cg::grid_group grid = cg::this_grid();
    unsigned first = (unsigned)grid.thread_rank(), stride = (unsigned)grid.size();
    for (unsigned step = 0; step < steps; step++) {
        for (unsigned i = first; i < n; i += stride)
            to[i] = from[(i + 1) % n] + 3 * from[(i + n - 1) % n];
        grid.sync();
        unsigned *other = from;
        from = to;
        to = other;
    }
}

extern "C" __global__ void shares(const unsigned *in, unsigned *partial, unsigned *out, unsigned n) {
    // Sums by CTA, then of all CTAs, then each element's part of it: two barriers of the grid and some of CTAs.
    __shared__ unsigned sums[256];
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    unsigned t = block.thread_rank(), sum = 0;
    for (unsigned i = (unsigned)grid.thread_rank(); i < n; i += (unsigned)grid.num_threads())
        sum += in[i];
    sums[t] = sum;
    block.sync();
    for (unsigned half = block.size() / 2; half > 0; half /= 2) {
        if (t < half)
            sums[t] += sums[t + half];
        block.sync();
    }
    if (t == 0)
        partial[grid.block_rank()] = sums[0];
    grid.sync();
    if (grid.block_rank() == grid.num_blocks() - 1 && t == 0) {
        unsigned total = 0;
        for (unsigned i = 0; i < grid.num_blocks(); i++)
            total += partial[i];
        partial[0] = total;
    }
    grid.sync();
    unsigned total = partial[0];
    for (unsigned i = (unsigned)grid.thread_rank(); i < n; i += (unsigned)grid.num_threads())
        out[i] = total - in[i];
}

extern "C" __global__ void halves(unsigned *values, unsigned *out, unsigned rounds) {
    // Work of its own between arriving at a barrier of the grid and waiting there.
    cg::grid_group grid = cg::this_grid();
    unsigned me = (unsigned)grid.thread_rank(), size = (unsigned)grid.size(), own = me;
    for (unsigned round = 0; round < rounds; round++) {
        values[me] = own + round;
        auto token = grid.barrier_arrive();
        own = own * 5 + 1;
        grid.barrier_wait(std::move(token));
        own += values[size - 1 - me];
        grid.sync();
    }
    out[me] = own;
}

extern "C" __global__ void ranks(unsigned long long *out) {
    cg::grid_group grid = cg::this_grid();
    unsigned long long *mine = out + 6 * grid.thread_rank();
    dim3 blocks = grid.dim_blocks(), block = grid.block_index();
    grid.sync();
    mine[0] = grid.is_valid();
    mine[1] = grid.size();
    mine[2] = grid.thread_rank();
    mine[3] = grid.block_rank();
    mine[4] = blocks.x + 100 * blocks.y + 10000 * blocks.z;
    mine[5] = block.x + 100 * block.y + 10000 * block.z;
}

extern "C" __global__ void valid(unsigned *out) {
    // Launched in the ordinary way as well: nobody may wait then.
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1 + cg::this_grid().is_valid();
}

extern "C" __global__ void pipeline(volatile unsigned *full, volatile unsigned *box, unsigned *out, unsigned rounds) {
    // The first half of the CTAs takes what the second half makes, which begins later.
    unsigned half = gridDim.x / 2, pair = blockIdx.x % half, sum = 0;
    for (unsigned round = 0; round < rounds; round++) {
        if (blockIdx.x < half) {
            if (threadIdx.x == 0)
                while (full[pair] != 1) {
                }
            __syncthreads();
            sum = sum * 3 + box[pair * blockDim.x + threadIdx.x];
            __threadfence();
            __syncthreads();
            if (threadIdx.x == 0)
                full[pair] = 0;
        } else {
            if (threadIdx.x == 0)
                while (full[pair] != 0) {
                }
            __syncthreads();
            box[pair * blockDim.x + threadIdx.x] = round * 1000 + pair * 10 + threadIdx.x;
            __threadfence();
            __syncthreads();
            if (threadIdx.x == 0)
                full[pair] = 1;
        }
        __syncthreads();
    }
    if (blockIdx.x < half)
        out[pair * blockDim.x + threadIdx.x] = sum;
}
