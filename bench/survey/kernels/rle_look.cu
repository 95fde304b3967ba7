// Run-length encoding of a column in a single pass: CUB finds the heads of runs in a tile, and a look-back over
// the tiles before (Merrill and Garland) gives where a tile's runs go.
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda/atomic>
#include <cuda/std/cstdint>
#include <cuda/std/functional>

namespace {

constexpr int kThreads = 192;
constexpr int kItems = 7;
constexpr int kTile = kThreads * kItems;

enum class Status : uint32_t { invalid = 0, aggregate = 1, inclusive = 2 };

struct TileState {
    uint64_t word;

    __device__ static uint64_t pack(Status status, uint32_t value) {
        return static_cast<uint64_t>(status) << 32 | value;
    }
    __device__ void publish(Status status, uint32_t value) {
        cuda::atomic_ref<uint64_t, cuda::thread_scope_device>(word).store(pack(status, value),
                                                                         cuda::memory_order_release);
    }
    __device__ uint64_t wait() {
        cuda::atomic_ref<uint64_t, cuda::thread_scope_device> ref(word);
        uint64_t seen = ref.load(cuda::memory_order_acquire);
        while ((seen >> 32) == static_cast<uint32_t>(Status::invalid))
            seen = ref.load(cuda::memory_order_acquire);
        return seen;
    }
};

// What all tiles before hold, by the first warp.
__device__ uint32_t look_back(TileState *states, int tile) {
    const int lane = threadIdx.x;
    uint32_t before = 0;
    for (int window = tile - 1;; window -= 32) {
        const int other = window - lane;
        const uint64_t seen = other >= 0 ? states[other].wait() : TileState::pack(Status::inclusive, 0);
        const bool done = (seen >> 32) == static_cast<uint32_t>(Status::inclusive);
        const unsigned inclusive = __ballot_sync(0xffffffffu, done);
        const int last = inclusive ? __ffs(inclusive) - 1 : 31;
        before += __reduce_add_sync(0xffffffffu, lane <= last ? static_cast<uint32_t>(seen) : 0u);
        if (inclusive)
            return before;
    }
}

}  // namespace

extern "C" __global__ void rle_look_init(TileState *states, uint32_t *ticket, int tiles) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < tiles)
        states[i].word = 0;
    if (i == 0)
        *ticket = 0;
}

extern "C" __global__ void __launch_bounds__(kThreads)
    rle_look_heads(const int *__restrict__ column, int n, TileState *states, uint32_t *ticket, int *values,
                   uint32_t *starts, uint32_t *runs) {
    using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Heads = cub::BlockDiscontinuity<int, kThreads>;
    using Scan = cub::BlockScan<uint32_t, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Heads::TempStorage heads;
        typename Scan::TempStorage scan;
    } storage;
    __shared__ int shared_tile;
    __shared__ uint32_t shared_before;

    if (threadIdx.x == 0)
        shared_tile = cuda::atomic_ref<uint32_t, cuda::thread_scope_device>(*ticket).fetch_add(
            1, cuda::memory_order_relaxed);
    __syncthreads();
    const int tile = shared_tile;
    const int first = tile * kTile;
    const int valid = min(kTile, n - first);

    int items[kItems];
    Load(storage.load).Load(column + first, items, valid, 0);
    __syncthreads();
    int flags[kItems];
    if (tile == 0)
        Heads(storage.heads).FlagHeads(flags, items, cuda::std::not_equal_to<int>());
    else
        Heads(storage.heads).FlagHeads(flags, items, cuda::std::not_equal_to<int>(), column[first - 1]);
    __syncthreads();
    uint32_t ranks[kItems], total;
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
        if (static_cast<int>(threadIdx.x) * kItems + k >= valid)
            flags[k] = 0;
        ranks[k] = flags[k];
    }
    Scan(storage.scan).ExclusiveSum(ranks, ranks, total);

    if (threadIdx.x < 32) {
        if (threadIdx.x == 0)
            states[tile].publish(tile == 0 ? Status::inclusive : Status::aggregate, total);
        const uint32_t before = tile == 0 ? 0 : look_back(states, tile);
        if (threadIdx.x == 0) {
            if (tile != 0)
                states[tile].publish(Status::inclusive, before + total);
            shared_before = before;
            if (first + valid == n) {
                *runs = before + total;
                starts[before + total] = n;
            }
        }
    }
    __syncthreads();
    const uint32_t before = shared_before;
#pragma unroll
    for (int k = 0; k < kItems; ++k)
        if (flags[k]) {
            values[before + ranks[k]] = items[k];
            starts[before + ranks[k]] = first + threadIdx.x * kItems + k;
        }
}

extern "C" __global__ void rle_look_lengths(const uint32_t *__restrict__ starts, const uint32_t *__restrict__ runs,
                                            uint32_t *__restrict__ lengths) {
    const uint32_t count = *runs;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        lengths[i] = starts[i + 1] - starts[i];
}
