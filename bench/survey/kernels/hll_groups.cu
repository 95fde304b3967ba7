// How many different users each page has, about: HyperLogLog sketches in shared memory. Lanes with the same register
// find each other (labeled_partition), so one of them goes to memory.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/warp/warp_reduce.cuh>
#include <cuda/std/bit>
#include <cuda/std/cstdint>
#include <cuda/std/tuple>

namespace cg = cooperative_groups;

namespace {

constexpr int kBits = 6;
constexpr int kRegisters = 1 << kBits;

struct Event {
    uint64_t user;
    uint32_t page;
    uint32_t time;
};

__device__ uint64_t mixed(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

// The register of a user, and how many zeros its other bits start with, and one.
__device__ cuda::std::tuple<uint32_t, uint32_t> placed(uint64_t user) {
    const uint64_t hash = mixed(user);
    const uint64_t rest = hash << kBits | (1ull << (kBits - 1));
    return {static_cast<uint32_t>(hash >> (64 - kBits)), static_cast<uint32_t>(cuda::std::countl_zero(rest)) + 1};
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256)
    hll_groups_add(const Event *__restrict__ events, uint32_t *__restrict__ sketches, int n, int pages, uint32_t from,
                   uint32_t to) {
    extern __shared__ uint32_t registers[];
    for (int i = threadIdx.x; i < pages * kRegisters; i += blockDim.x)
        registers[i] = 0;
    __syncthreads();
    const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
        const Event event = events[i];
        if (event.time < from || event.time >= to)
            continue;
        const auto [index, rank] = placed(event.user);
        const uint32_t place = event.page * kRegisters + index;
        const auto same = cg::labeled_partition(cg::coalesced_threads(), place);
        const uint32_t highest = cg::reduce(same, rank, cg::greater<uint32_t>());
        if (same.thread_rank() == 0)
            atomicMax(registers + place, highest);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < pages * kRegisters; i += blockDim.x)
        if (registers[i] != 0)
            atomicMax(sketches + i, registers[i]);
}

extern "C" __global__ void __launch_bounds__(128)
    hll_groups_estimate(const uint32_t *__restrict__ sketches, float *__restrict__ estimates, int pages) {
    using SumFloats = cub::WarpReduce<float>;
    using SumInts = cub::WarpReduce<int>;
    __shared__ typename SumFloats::TempStorage floats[4];
    __shared__ typename SumInts::TempStorage ints[4];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int page = blockIdx.x * 4 + warp;
    if (page >= pages)
        return;
    float sum = 0.0f;
    int empty = 0;
    for (int i = lane; i < kRegisters; i += 32) {
        const uint32_t rank = sketches[page * kRegisters + i];
        sum += exp2f(-static_cast<float>(rank));
        empty += rank == 0;
    }
    sum = SumFloats(floats[warp]).Sum(sum);
    empty = SumInts(ints[warp]).Sum(empty);
    if (lane == 0) {
        constexpr float m = kRegisters;
        constexpr float alpha = 0.709f;
        float estimate = alpha * m * m / sum;
        if (estimate <= 2.5f * m && empty > 0)
            estimate = m * logf(m / static_cast<float>(empty));
        estimates[page] = estimate;
    }
}
