#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda/atomic>

// A partition in one pass: tiles learn by decoupled look-back how many were chosen before them.
// Chosen trades keep their order at the front; the others follow from the back.
struct Trade {
    int account;
    float amount;
};

struct Chosen {
    float low, high;
    int branch;
    __device__ bool operator()(const Trade &t) const {
        return t.amount >= low && t.amount < high && (t.account & 7) != branch;
    }
};

constexpr int THREADS = 128, ITEMS = 8, TILE = THREADS * ITEMS;
constexpr unsigned long long AGGREGATE = 1ull << 32, PREFIX = 2ull << 32;
using State = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;

extern "C" __global__ void select_init(unsigned long long *states, unsigned *ticket, int tiles) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < tiles)
        states[i] = 0;
    if (i == 0)
        *ticket = 0;
}

// Called by one warp.
__device__ unsigned look_back(unsigned long long *states, int tile, unsigned count) {
    int lane = threadIdx.x;
    if (tile == 0) {
        if (lane == 0)
            State(states[0]).store(PREFIX | count, cuda::memory_order_release);
        return 0;
    }
    if (lane == 0)
        State(states[tile]).store(AGGREGATE | count, cuda::memory_order_release);
    unsigned before = 0;
    for (int at = tile - 1 - lane;; at -= 32) {
        unsigned long long seen = PREFIX;
        do {
            if (at >= 0)
                seen = State(states[at]).load(cuda::memory_order_acquire);
        } while (__any_sync(0xffffffffu, (seen >> 32) == 0));
        unsigned done = __ballot_sync(0xffffffffu, (seen >> 32) == 2);
        int last = done ? __ffs(done) - 1 : 31;
        before += __reduce_add_sync(0xffffffffu, lane <= last ? (unsigned)seen : 0u);
        if (done)
            break;
    }
    if (lane == 0)
        State(states[tile]).store(PREFIX | (before + count), cuda::memory_order_release);
    return before;
}

extern "C" __global__ void __launch_bounds__(THREADS) select_tiles(const Trade *__restrict__ trades,
                                                                  Trade *__restrict__ out, unsigned *total,
                                                                  unsigned long long *states, unsigned *ticket, int n,
                                                                  Chosen chosen) {
    using Load = cub::BlockLoad<Trade, THREADS, ITEMS, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Scan = cub::BlockScan<unsigned, THREADS, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Scan::TempStorage scan;
        struct {
            int account[TILE];
            float amount[TILE];
        } kept;
    } storage;
    __shared__ int tile_shared;
    __shared__ unsigned before_shared;

    if (threadIdx.x == 0)
        tile_shared = atomicAdd(ticket, 1u);
    __syncthreads();
    const int tile = tile_shared, first = tile * TILE, valid = min(TILE, n - first);
    Trade mine[ITEMS];
    Load(storage.load).Load(trades + first, mine, valid, Trade{0, 0.f});
    __syncthreads();

    unsigned flag[ITEMS], place[ITEMS], count;
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        flag[i] = (int)threadIdx.x * ITEMS + i < valid && chosen(mine[i]);
    Scan(storage.scan).ExclusiveSum(flag, place, count);
    if (threadIdx.x < 32) {
        unsigned before = look_back(states, tile, count);
        if (threadIdx.x == 0)
            before_shared = before;
    }
    __syncthreads();
    const unsigned before = before_shared;

    // in shared memory: the chosen ones, then the others
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        int at = threadIdx.x * ITEMS + i;
        if (at >= valid)
            continue;
        int to = flag[i] ? place[i] : count + at - place[i];
        storage.kept.account[to] = mine[i].account;
        storage.kept.amount[to] = mine[i].amount;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < valid; i += THREADS) {
        int rejected = i - (int)count;
        size_t to = rejected < 0 ? before + i : n - 1 - (size_t)(first - before + rejected);
        out[to] = Trade{storage.kept.account[i], storage.kept.amount[i]};
    }
    if (first + TILE >= n && threadIdx.x == 0)
        *total = before + count;
}
