// Nearest neighbours among vectors that a product quantizer made into 16 bytes: a table of distances for each
// query, tiles of codes that a pipeline brings, the best of each tile by CUB, then the best of all tiles.
#include <cooperative_groups.h>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cuda/pipeline>
#include <cuda/std/cstdint>
#include <cuda/std/limits>

#pragma nv_diag_suppress static_var_with_dynamic_init
namespace cg = cooperative_groups;

namespace {

constexpr int kParts = 16, kCentres = 256, kThreads = 128, kItems = 8, kBest = 16;
constexpr int kTile = kThreads * kItems;

struct Neighbour {
    float distance;
    int id;
};

struct Nearer {
    __device__ bool operator()(const Neighbour &a, const Neighbour &b) const {
        return a.distance < b.distance || (a.distance == b.distance && a.id < b.id);
    }
};

__device__ float distance_of(const float (&table)[kParts][kCentres], const uint4 &code) {
    const uint32_t words[4] = {code.x, code.y, code.z, code.w};
    float sum = 0.0f;
#pragma unroll
    for (int part = 0; part < kParts; ++part)
        sum += table[part][(words[part / 4] >> part % 4 * 8) & 0xff];
    return sum;
}

}  // namespace

extern "C" __global__ void pq_table(const float4 *__restrict__ queries, const float4 *__restrict__ books,
                                    float *__restrict__ tables) {
    const int part = blockIdx.x, query = blockIdx.y, centre = threadIdx.x;
    const float4 q = queries[query * kParts + part], c = books[part * kCentres + centre];
    const float dx = q.x - c.x, dy = q.y - c.y, dz = q.z - c.z, dw = q.w - c.w;
    tables[(query * kParts + part) * kCentres + centre] = dx * dx + dy * dy + dz * dz + dw * dw;
}

extern "C" __global__ void __launch_bounds__(kThreads)
    pq_tiles(const float4 *__restrict__ tables, const uint4 *__restrict__ codes, Neighbour *__restrict__ candidates,
             int n) {
    using Sort = cub::BlockRadixSort<float, kThreads, kItems, int>;
    __shared__ alignas(16) float table[kParts][kCentres];
    __shared__ alignas(16) uint4 staged[2][kThreads];
    __shared__ typename Sort::TempStorage storage;
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;

    const auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    const int first = blockIdx.x * kTile, query = blockIdx.y;

    auto fetch = [&](int round) {
        pipe.producer_acquire();
        const int from = first + round * kThreads;
        const int count = max(0, min(kThreads, n - from));
        if (count > 0)
            cuda::memcpy_async(block, staged[round % 2], codes + from,
                               cuda::aligned_size_t<16>(count * sizeof(uint4)), pipe);
        pipe.producer_commit();
    };

    fetch(0);
    float4 *flat = reinterpret_cast<float4 *>(&table[0][0]);
    for (int i = threadIdx.x; i < kParts * kCentres / 4; i += kThreads)
        flat[i] = __ldg(tables + query * (kParts * kCentres / 4) + i);
    block.sync();

    float distances[kItems];
    int ids[kItems];
#pragma unroll
    for (int round = 0; round < kItems; ++round) {
        if (round + 1 < kItems)
            fetch(round + 1);
        pipe.consumer_wait();
        const int id = first + round * kThreads + threadIdx.x;
        ids[round] = id < n ? id : -1;
        distances[round] =
            id < n ? distance_of(table, staged[round % 2][threadIdx.x]) : cuda::std::numeric_limits<float>::infinity();
        pipe.consumer_release();
    }
    Sort(storage).SortBlockedToStriped(distances, ids);
    if (threadIdx.x < kBest)
        candidates[(query * gridDim.x + blockIdx.x) * kBest + threadIdx.x] = {distances[0], ids[0]};
}

extern "C" __global__ void __launch_bounds__(kThreads)
    pq_best(const Neighbour *__restrict__ candidates, float *__restrict__ distance, int *__restrict__ id, int count) {
    using Sort = cub::BlockMergeSort<Neighbour, kThreads, kItems>;
    __shared__ typename Sort::TempStorage storage;
    const Neighbour *mine = candidates + static_cast<size_t>(blockIdx.x) * count;
    const Neighbour none{cuda::std::numeric_limits<float>::infinity(), -1};
    Neighbour items[kItems];
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
        const int i = threadIdx.x * kItems + k;
        items[k] = i < count ? mine[i] : none;
    }
    Sort(storage).Sort(items, Nearer(), count, none);
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
        const int i = threadIdx.x * kItems + k;
        if (i < kBest) {
            distance[blockIdx.x * kBest + i] = items[k].distance;
            id[blockIdx.x * kBest + i] = items[k].id;
        }
    }
}
