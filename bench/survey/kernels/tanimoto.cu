// The most similar molecules to each query by Tanimoto's coefficient of fingerprints of 1024 bits: eight lanes a
// molecule, a heap of the best for each such tile in shared memory, which the block ranks in the end.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

#define BEST 8
#define THREADS 128
#define TILES (THREADS / 8)

struct Hit {
    float score;
    int id;
    __device__ bool worse_than(const Hit &o) const { return score < o.score || (score == o.score && id > o.id); }
};

__device__ void sift_down(Hit *heap, Hit entering) {
    int at = 0;
    for (;;) {
        int child = 2 * at + 1;
        if (child >= BEST)
            break;
        if (child + 1 < BEST && heap[child + 1].worse_than(heap[child]))
            child++;
        if (!heap[child].worse_than(entering))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = entering;
}

extern "C" __global__ void fp_weights(const uint4 *__restrict__ prints, unsigned short *weights, int count) {
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::this_thread_block());
    int id = (blockIdx.x * blockDim.x + threadIdx.x) / 8;
    if (id >= count)
        return;
    uint4 p = prints[id * 8 + tile.thread_rank()];
    int bits = __popc(p.x) + __popc(p.y) + __popc(p.z) + __popc(p.w);
    for (int i = tile.size() / 2; i > 0; i /= 2)
        bits += tile.shfl_down(bits, i);
    if (tile.thread_rank() == 0)
        weights[id] = bits;
}

extern "C" __global__ void __launch_bounds__(THREADS)
tanimoto(const uint4 *__restrict__ prints, const unsigned short *__restrict__ weights,
         const uint4 *__restrict__ queries, Hit *__restrict__ best, int count, float least) {
    __shared__ Hit heaps[TILES][BEST];
    __shared__ int query_weight;
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::this_thread_block());
    int number = threadIdx.x / 8, rank = tile.thread_rank();
    heaps[number][rank] = Hit{-1.0f, 0x7fffffff};
    if (threadIdx.x == 0)
        query_weight = 0;
    __syncthreads();
    uint4 q = queries[blockIdx.x * 8 + rank];
    if (number == 0)
        atomicAdd(&query_weight, __popc(q.x) + __popc(q.y) + __popc(q.z) + __popc(q.w));
    __syncthreads();
    int a = query_weight;
    for (int id = number; id < count; id += TILES) {
        int b = weights[id];
        if (min(a, b) < least * max(a, b))
            continue;
        uint4 p = prints[id * 8 + rank];
        int common = __popc(p.x & q.x) + __popc(p.y & q.y) + __popc(p.z & q.z) + __popc(p.w & q.w);
        for (int i = tile.size() / 2; i > 0; i /= 2)
            common += tile.shfl_xor(common, i);
        Hit hit{(float)common / (float)(a + b - common), id};
        if (rank == 0 && hit.score >= least && heaps[number][0].worse_than(hit))
            sift_down(heaps[number], hit);
        tile.sync();
    }
    __syncthreads();
    Hit mine = heaps[number][rank];
    int better = 0;
    for (int t = 0; t < TILES; t++)
        for (int k = 0; k < BEST; k++) {
            Hit other = heaps[t][k];
            better += mine.worse_than(other) || (mine.score < 0 && other.score < 0 && t * BEST + k < threadIdx.x);
        }
    if (better < BEST)
        best[blockIdx.x * BEST + better] = mine;
}
