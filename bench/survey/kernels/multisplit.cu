// Keys into buckets by a prime divisor: places are taken once for all threads of a warp that have the same bucket, by
// labeled partitions; counts, a scan, scattering, and a sum for each bucket by a warp of its own.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

struct ByPrime {
    unsigned divisor, buckets;
    __device__ unsigned operator()(unsigned key) const { return key / 3 % divisor % buckets; }
};

extern "C" __global__ void split_count(const unsigned *__restrict__ keys, unsigned *counts, ByPrime bucket_of, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    cg::coalesced_group active = cg::coalesced_threads();
    unsigned bucket = bucket_of(keys[i]);
    cg::coalesced_group same = cg::labeled_partition(active, bucket);
    if (same.thread_rank() == 0)
        atomicAdd(&counts[bucket], same.num_threads());
}

extern "C" __global__ void split_offsets(const unsigned *__restrict__ counts, unsigned *offsets, unsigned *cursor,
                                         int buckets) {
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    unsigned base = 0;
    for (int first = 0; first < buckets; first += 32) {
        int b = first + warp.thread_rank();
        unsigned count = b < buckets ? counts[b] : 0;
        unsigned before = cg::exclusive_scan(warp, count);
        if (b < buckets)
            cursor[b] = offsets[b] = base + before;
        base += warp.shfl(before + count, 31);
    }
    if (warp.thread_rank() == 0)
        offsets[buckets] = base;
}

extern "C" __global__ void split_scatter(const unsigned *__restrict__ keys, unsigned *cursor, unsigned *out,
                                         ByPrime bucket_of, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned key = keys[i], bucket = bucket_of(key), place = 0;
    cg::coalesced_group same = cg::labeled_partition(cg::coalesced_threads(), bucket);
    if (same.thread_rank() == 0)
        place = atomicAdd(&cursor[bucket], same.num_threads());
    place = same.shfl(place, 0) + same.thread_rank();
    out[place] = key;
}

extern "C" __global__ void split_sums(const unsigned *__restrict__ out, const unsigned *__restrict__ offsets,
                                      unsigned long long *sums, unsigned *largest, int buckets) {
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    for (int b = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank(); b < buckets;
         b += gridDim.x * warp.meta_group_size()) {
        unsigned long long sum = 0;
        unsigned most = 0;
        for (unsigned i = offsets[b] + warp.thread_rank(); i < offsets[b + 1]; i += warp.num_threads()) {
            sum += out[i];
            most = max(most, out[i]);
        }
        sum = cg::reduce(warp, sum, cg::plus<unsigned long long>());
        most = cg::reduce(warp, most, cg::greater<unsigned>());
        if (warp.thread_rank() == 0) {
            sums[b] = sum;
            largest[b] = most;
        }
    }
}
