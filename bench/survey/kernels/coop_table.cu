#include <cooperative_groups.h>

// A hash table of 64-bit slots, key and value, that groups of eight threads fill and search together.
// For a key that comes more than once the greatest value stays.
namespace cg = cooperative_groups;
using Slot = unsigned long long;
using Tile = cg::thread_block_tile<8, cg::thread_block>;

constexpr Slot EMPTY = ~0ull;

__device__ __forceinline__ unsigned mixed(unsigned k) {
    k = (k ^ (k >> 16)) * 0x7feb352du;
    k = (k ^ (k >> 15)) * 0x846ca68bu;
    return k ^ (k >> 16);
}

__device__ bool insert(const Tile &tile, Slot *table, unsigned mask, unsigned key, unsigned value) {
    const Slot pair = (Slot)key << 32 | value;
    unsigned group = mixed(key) & mask;
    for (unsigned step = 0; step <= mask; step++) {
        Slot *slots = table + (size_t)group * 8;
        while (true) {
            Slot seen = *(volatile Slot *)(slots + tile.thread_rank());
            unsigned same = tile.ballot((unsigned)(seen >> 32) == key);
            if (same) {
                cg::invoke_one(tile, [&] { atomicMax(slots + __ffs(same) - 1, pair); });
                return true;
            }
            unsigned free = tile.ballot(seen == EMPTY);
            if (!free)
                break;
            Slot *slot = slots + __ffs(free) - 1;
            Slot old = cg::invoke_one_broadcast(tile, [&] { return atomicCAS(slot, EMPTY, pair); });
            if (old == EMPTY)
                return true;
            // somebody was faster: look again
        }
        group = (group + 1) & mask;
    }
    return false;
}

__device__ unsigned find(const Tile &tile, const Slot *table, unsigned mask, unsigned key, unsigned &steps) {
    unsigned group = mixed(key) & mask;
    for (steps = 1; steps <= mask + 1; steps++) {
        Slot seen = table[(size_t)group * 8 + tile.thread_rank()];
        unsigned same = tile.ballot((unsigned)(seen >> 32) == key);
        if (same)
            return (unsigned)tile.shfl(seen, __ffs(same) - 1);
        if (tile.any(seen == EMPTY))
            break;
        group = (group + 1) & mask;
    }
    return 0xffffffffu;
}

extern "C" __global__ void table_clear(Slot *table, unsigned slots) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < slots; i += gridDim.x * blockDim.x)
        table[i] = EMPTY;
}

extern "C" __global__ void table_insert(const unsigned *__restrict__ keys, const unsigned *__restrict__ values,
                                        Slot *table, unsigned mask, int n, unsigned *failed) {
    Tile tile = cg::tiled_partition<8>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned key = 0, value = 0;
    if (i < n) {
        key = keys[i];
        value = values[i];
    }
    for (int turn = 0; turn < 8; turn++) {
        if (!tile.shfl(i < n, turn))
            break;
        if (!insert(tile, table, mask, tile.shfl(key, turn), tile.shfl(value, turn)) && tile.thread_rank() == 0)
            atomicAdd(failed, 1u);
    }
}

extern "C" __global__ void table_find(const unsigned *__restrict__ queries, const Slot *__restrict__ table,
                                      uint2 *__restrict__ found, unsigned mask, int n) {
    Tile tile = cg::tiled_partition<8>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned query = i < n ? queries[i] : 0;
    uint2 mine = make_uint2(0, 0);
    for (int turn = 0; turn < 8; turn++) {
        if (!tile.shfl(i < n, turn))
            break;
        unsigned steps, value = find(tile, table, mask, tile.shfl(query, turn), steps);
        if (turn == tile.thread_rank())
            mine = make_uint2(value, value == 0xffffffffu ? steps : 0);  // a hit's depend on the order
    }
    if (i < n)
        found[i] = mine;
}
