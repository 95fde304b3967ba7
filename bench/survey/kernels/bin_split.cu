// A work list split in two: items that still need refinement and those that are finished. A warp parts by a binary
// partition, one thread of each half takes room for all of its half, and the ranks within it are the places. The
// refinement then goes over the first list, some rounds.
#include <cooperative_groups.h>
#include <cstdint>
namespace cg = cooperative_groups;

struct Item {  // an interval of a curve and how often it was halved
    float from, to;
    uint32_t key;
};

struct Lists {
    unsigned open, closed, next, lost;
};

__device__ float curve(float x, unsigned key) {
    float a = 1.0f + (key & 7), b = 0.125f * (key >> 3 & 7);
    return fmaf(x, fmaf(x, fmaf(-x, fmaf(x, 0.25f * b, 0.5f), b), a), 1.0f);
}

__device__ float bend(const Item &i) {
    float middle = 0.5f * (i.from + i.to);
    return fabsf(0.5f * (curve(i.from, i.key) + curve(i.to, i.key)) - curve(middle, i.key));
}

template <class Group> __device__ unsigned take_room(const Group &group, unsigned *counter, unsigned each) {
    unsigned first = cg::invoke_one_broadcast(
        group, [&]() { return atomicAdd(counter, each * static_cast<unsigned>(group.num_threads())); });
    return first + each * group.thread_rank();
}

extern "C" __global__ void bin_begin(const float2 *__restrict__ spans, Item *open, Lists *lists, int n) {
    auto grid = cg::this_grid();
    for (auto i = grid.thread_rank(); i < n; i += grid.num_threads())
        open[i] = {spans[i].x, spans[i].y, static_cast<uint32_t>(i << 6 | i % 61)};
    if (grid.thread_rank() == 0)
        *lists = {static_cast<unsigned>(n), 0, 0, 0};
}

extern "C" __global__ void bin_split(const Item *__restrict__ open, Item *__restrict__ next, Item *__restrict__ closed,
                                     Lists *lists, float limit, unsigned room) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    unsigned count = lists->open;
    for (unsigned base = blockIdx.x * blockDim.x + threadIdx.x & ~31u; base < count; base += gridDim.x * blockDim.x) {
        unsigned i = base + warp.thread_rank();
        if (i >= count)
            break;
        auto here = cg::coalesced_threads();
        Item item = open[i];
        bool coarse = bend(item) > limit;
        auto half = cg::binary_partition(here, coarse);
        unsigned at = take_room(half, coarse ? &lists->next : &lists->closed, coarse ? 2 : 1);
        if (!coarse) {
            closed[at] = item;
        } else if (at + 2 <= room) {
            float middle = 0.5f * (item.from + item.to);
            next[at] = {item.from, middle, item.key};
            next[at + 1] = {middle, item.to, item.key};
        } else {
            atomicAdd(&lists->lost, 1);
        }
    }
}

extern "C" __global__ void bin_turn(Lists *lists) {
    lists->open = lists->next;
    lists->next = 0;
}

extern "C" __global__ void bin_lengths(const Item *__restrict__ closed, const Lists *lists,
                                       unsigned long long *__restrict__ packed, unsigned room) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < room; i += gridDim.x * blockDim.x)
        packed[i] = i < lists->closed
                        ? (unsigned long long)(closed[i].key >> 6) << 32 | (unsigned)(closed[i].from * 1048576.0f)
                        : 0;
}
