#include <cub/block/block_scan.cuh>
#include <cuda/atomic>

// Pairs of 32 bits sorted by digits of 8 bits, least first: histograms of all digits at once, then each pass reads
// and writes its pairs but once, as tiles learn by look-back where their digits go.
constexpr int THREADS = 256, ITEMS = 8, TILE = THREADS * ITEMS, DIGITS = 256, PASSES = 4, WARPS = THREADS / 32;
constexpr unsigned LOCAL = 1u << 30, GLOBAL = 2u << 30, VALUE = LOCAL - 1, ALL = 0xffffffffu;
using Entry = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

extern "C" __global__ void sweep_clear(unsigned *counts, unsigned *states, unsigned *tickets, int entries) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < entries; i += gridDim.x * blockDim.x) {
        states[i] = 0;
        if (i < PASSES * DIGITS)
            counts[i] = 0;
        if (i < PASSES)
            tickets[i] = 0;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) sweep_counts(const unsigned *__restrict__ keys,
                                                                  unsigned *counts, int n) {
    __shared__ unsigned mine[PASSES][DIGITS];
    for (int i = threadIdx.x; i < PASSES * DIGITS; i += THREADS)
        (&mine[0][0])[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        unsigned key = keys[i];
#pragma unroll
        for (int p = 0; p < PASSES; p++)
            atomicAdd(&mine[p][key >> (8 * p) & 255], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < PASSES * DIGITS; i += THREADS)
        if (unsigned count = (&mine[0][0])[i])
            atomicAdd(counts + i, count);
}

extern "C" __global__ void __launch_bounds__(DIGITS) sweep_starts(unsigned *counts) {
    using Scan = cub::BlockScan<unsigned, DIGITS>;
    __shared__ typename Scan::TempStorage storage;
    unsigned *mine = counts + blockIdx.x * DIGITS + threadIdx.x, start;
    Scan(storage).ExclusiveSum(*mine, start);
    *mine = start;
}

extern "C" __global__ void __launch_bounds__(THREADS) sweep_pass(const unsigned *__restrict__ keys,
                                                                const unsigned *__restrict__ values,
                                                                unsigned *__restrict__ keys_out,
                                                                unsigned *__restrict__ values_out,
                                                                const unsigned *__restrict__ starts, unsigned *states,
                                                                unsigned *tickets, int pass, int n) {
    using Scan = cub::BlockScan<unsigned, DIGITS>;
    __shared__ typename Scan::TempStorage storage;
    __shared__ unsigned warp_counts[WARPS][DIGITS], shift_to[DIGITS], pool[TILE], tile_shared;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, digit = threadIdx.x, shift = 8 * pass;
    starts += pass * DIGITS;
    states += (size_t)pass * gridDim.x * DIGITS;

    if (threadIdx.x == 0)
        tile_shared = atomicAdd(tickets + pass, 1u);
    for (int w = 0; w < WARPS; w++)
        warp_counts[w][digit] = 0;
    __syncthreads();
    const int tile = tile_shared, first = tile * TILE, valid = min(TILE, n - first);

    unsigned key[ITEMS], value[ITEMS], rank[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        int at = warp * 32 * ITEMS + i * 32 + lane;
        key[i] = at < valid ? keys[first + at] : ALL;
        value[i] = at < valid ? values[first + at] : 0;
    }
    // among the pairs of this warp with the same digit
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        unsigned d = key[i] >> shift & 255;
        unsigned peers = __match_any_sync(ALL, d);
        int leader = __ffs(peers) - 1;
        unsigned before = 0;
        if (lane == leader) {
            before = warp_counts[warp][d];
            warp_counts[warp][d] = before + __popc(peers);
        }
        __syncwarp();
        rank[i] = __shfl_sync(ALL, before, leader) + __popc(peers & ((1u << lane) - 1));
    }
    __syncthreads();

    // a digit a thread
    unsigned count = 0;
    for (int w = 0; w < WARPS; w++) {
        unsigned c = warp_counts[w][digit];
        warp_counts[w][digit] = count;
        count += c;
    }
    Entry(states[tile * DIGITS + digit]).store((tile ? LOCAL : GLOBAL) | count, cuda::memory_order_release);
    unsigned tile_start;
    Scan(storage).ExclusiveSum(count, tile_start);
    for (int w = 0; w < WARPS; w++)
        warp_counts[w][digit] += tile_start;
    unsigned before = 0;
    for (int at = tile - 1; at >= 0;) {
        unsigned seen = Entry(states[at * DIGITS + digit]).load(cuda::memory_order_acquire);
        if (seen == 0)
            continue;
        before += seen & VALUE;
        if (seen & GLOBAL)
            break;
        at--;
    }
    if (tile)
        Entry(states[tile * DIGITS + digit]).store(GLOBAL | (before + count), cuda::memory_order_release);
    shift_to[digit] = starts[digit] + before - tile_start;
    __syncthreads();

#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        rank[i] += warp_counts[warp][key[i] >> shift & 255];
        pool[rank[i]] = key[i];
    }
    __syncthreads();
    unsigned to[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        unsigned at = threadIdx.x + i * THREADS, k = pool[at];
        to[i] = shift_to[k >> shift & 255] + at;
        if (at < valid)
            keys_out[to[i]] = k;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        pool[rank[i]] = value[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        unsigned at = threadIdx.x + i * THREADS;
        if (at < valid)
            values_out[to[i]] = pool[at];
    }
}
