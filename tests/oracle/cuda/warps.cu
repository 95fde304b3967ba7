// Operations between the lanes of a warp, and cooperative groups.
#include "common.cuh"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
#define ALL 0xffffffffu

KERNEL shuffles(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    ROW(__shfl_sync(ALL, x, 5)) ROW(__shfl_sync(ALL, x, y & 31)) ROW(__shfl_sync(ALL, x, y & 31, 8)) ROW(__shfl_up_sync(ALL, x, 1))
    ROW(__shfl_up_sync(ALL, x, 3, 16)) ROW(__shfl_down_sync(ALL, x, 2)) ROW(__shfl_down_sync(ALL, x, 5, 4)) ROW(__shfl_xor_sync(ALL, x, 16))
    ROW(__shfl_xor_sync(ALL, x, 7, 8)) ROW((unsigned)__shfl_sync(ALL, (unsigned long long)x * y, 9)) ROW(__float_as_uint(__shfl_down_sync(ALL, (float)x, 4)))
    ROW((unsigned)__double_as_longlong(__shfl_xor_sync(ALL, (double)x, 3))) ROW(__ballot_sync(ALL, x & 1)) ROW(__any_sync(ALL, x > 0xf0000000u))
    ROW(__all_sync(ALL, x > 10)) ROW(__activemask()) ROW(__match_any_sync(ALL, x & 3)) ROW(__match_any_sync(ALL, (unsigned long long)(y & 7)))
    int all;
    ROW(__match_all_sync(ALL, x >> 28, &all)) ROW(all)
    unsigned half = i & 16 ? 0xffff0000u : 0xffffu;
    ROW(__shfl_xor_sync(half, y, 4, 16)) ROW(__ballot_sync(half, y & 2))
    if (x & 1) { ROW(__popc(__activemask())) } else { ROW(y) }
    unsigned odd = __ballot_sync(ALL, y & 1);
    if (y & 1) { ROW(__shfl_sync(odd, x, __ffs(odd) - 1)) } else { ROW(0) }
    __syncwarp();
}

KERNEL divergent_votes(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    unsigned total = 0;
    for (unsigned k = 0; k < (x & 7) + 1; k++) {
        unsigned mask = __activemask();
        total = total * 31 + __ballot_sync(mask, y >> k & 1);
        __syncwarp(mask);
    }
    ROW(total)
    unsigned prefix = x;
    for (int d = 1; d < 32; d *= 2) { unsigned v = __shfl_up_sync(ALL, prefix, d); if ((threadIdx.x & 31) >= d) prefix += v; }
    ROW(prefix)
}

KERNEL groups(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ unsigned s[256];
    BEGIN
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    auto warp = cg::tiled_partition<32>(block);
    auto pair = cg::tiled_partition<2>(tile);
    ROW(cg::reduce(tile, x, cg::plus<unsigned>())) ROW(cg::reduce(warp, y, cg::greater<unsigned>())) ROW(cg::reduce(pair, x, cg::bit_xor<unsigned>()))
    ROW(cg::inclusive_scan(tile, x)) ROW(cg::exclusive_scan(warp, y)) ROW(tile.thread_rank()) ROW(tile.meta_group_rank()) ROW(warp.ballot(x & 4))
    ROW(tile.shfl(x, 3)) ROW(tile.any(x & 1)) ROW(tile.all(y & 1)) ROW(block.thread_rank()) ROW(block.size())
    s[block.thread_rank()] = x;
    block.sync();
    ROW(s[block.size() - 1 - block.thread_rank()])
    if (x & 1) {
        auto active = cg::coalesced_threads();
        ROW(active.size()) ROW(active.thread_rank()) ROW(active.shfl(y, 0)) ROW(cg::reduce(active, x, cg::less<unsigned>())) ROW(active.ballot(y & 8))
    } else { ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) }
    auto part = cg::binary_partition(warp, (bool)(y & 1));
    ROW(part.size()) ROW(part.thread_rank()) ROW(cg::reduce(part, x, cg::plus<unsigned>()))
    auto label = cg::labeled_partition(warp, x % 5);
    ROW(label.size()) ROW(label.shfl(x, label.size() - 1))
    __shared__ unsigned counter;
    cg::invoke_one(block, [&] { counter = 0; });
    block.sync();
    cg::invoke_one(tile, [&] { atomicAdd(&counter, tile.meta_group_rank()); });
    block.sync();
    ROW(counter) ROW(__syncthreads_count(x & 1)) ROW(__syncthreads_and(x | 1)) ROW(__syncthreads_or(y == 0))
}

#if __CUDA_ARCH__ >= 800
KERNEL redux(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    ROW(__reduce_add_sync(ALL, x)) ROW(__reduce_min_sync(ALL, x)) ROW(__reduce_max_sync(ALL, (int)y)) ROW(__reduce_min_sync(ALL, (int)x))
    ROW(__reduce_and_sync(ALL, x | 0xfff)) ROW(__reduce_or_sync(ALL, x & 0xff)) ROW(__reduce_xor_sync(ALL, y))
    unsigned half = i & 16 ? 0xffff0000u : 0xffffu;
    ROW(__reduce_add_sync(half, (int)y)) ROW(__reduce_max_sync(half, x))
}
#endif
