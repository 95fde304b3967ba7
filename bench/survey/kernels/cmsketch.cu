// Heavy hitters of a stream by a count-min sketch: counters of a block in shared memory, atomics by
// cuda::atomic_ref in the scope that suffices, and those keys that are frequent enough claimed once by a set of bits.
#include <cuda/atomic>
#include <cuda/std/array>
#include <cstdint>

constexpr int DEPTH = 4, WIDTH = 1024;

template <class T> using BlockRef = cuda::atomic_ref<T, cuda::thread_scope_block>;
template <class T> using DeviceRef = cuda::atomic_ref<T, cuda::thread_scope_device>;

constexpr cuda::std::array<uint32_t, DEPTH> MULTIPLIER = {0x9e3779b1u, 0x85ebca77u, 0xc2b2ae3du, 0x27d4eb2fu};

template <int ROW> __device__ unsigned slot_of(uint32_t key) {
    constexpr uint32_t multiplier = MULTIPLIER[ROW];
    uint32_t h = (key ^ key >> 15) * multiplier;
    return ROW * WIDTH + (h >> 22);
}

template <class F, int... ROW> __device__ void each_row(F f, cuda::std::integer_sequence<int, ROW...>) {
    (f(cuda::std::integral_constant<int, ROW>{}), ...);
}
using Rows = cuda::std::make_integer_sequence<int, DEPTH>;

struct Record {
    uint32_t key, weight;
};

extern "C" __global__ void __launch_bounds__(512)
    cm_count(const Record *__restrict__ stream, uint32_t *sketch, uint32_t *heaviest, int n) {
    __shared__ uint32_t local[DEPTH * WIDTH];
    for (int i = threadIdx.x; i < DEPTH * WIDTH; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    uint32_t most = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        auto [key, weight] = stream[i];
        most = max(most, weight);
        each_row([&, key = key, weight = weight](auto row) {
            BlockRef<uint32_t>(local[slot_of<row()>(key)]).fetch_add(weight, cuda::std::memory_order_relaxed);
        }, Rows{});
    }
    __syncthreads();
    for (int i = threadIdx.x; i < DEPTH * WIDTH; i += blockDim.x)
        if (uint32_t count = local[i])
            DeviceRef<uint32_t>(sketch[i]).fetch_add(count, cuda::std::memory_order_relaxed);
    DeviceRef<uint32_t>(*heaviest).fetch_max(most);
}

extern "C" __global__ void cm_hitters(const Record *__restrict__ stream, const uint32_t *__restrict__ sketch,
                                      uint32_t *claimed, uint32_t *first_seen, unsigned long long *hitters,
                                      uint32_t *found, uint32_t threshold, uint32_t room, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t key = stream[i].key, estimate = ~0u;
    each_row([&](auto row) { estimate = min(estimate, sketch[slot_of<row()>(key)]); }, Rows{});
    if (estimate < threshold)
        return;
    DeviceRef<uint32_t> first(first_seen[key]);
    uint32_t was = first.load(cuda::std::memory_order_relaxed);
    while (was > static_cast<uint32_t>(i) && !first.compare_exchange_weak(was, i, cuda::std::memory_order_relaxed))
        ;
    uint32_t bit = 1u << key % 32;
    DeviceRef<uint32_t> word(claimed[key / 32]);
    if (word.load(cuda::std::memory_order_relaxed) & bit)
        return;
    if (word.fetch_or(bit, cuda::std::memory_order_acq_rel) & bit)
        return;
    uint32_t at = DeviceRef<uint32_t>(*found).fetch_add(1);
    if (at < room)
        hitters[at] = static_cast<unsigned long long>(key) << 32 | estimate;
}
