// Cooperative groups and asynchronous copies.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
__global__ void groups(int *out, const int *in) {
    __shared__ int tile[256];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto four = cg::tiled_partition<4>(warp);
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    block.sync();
    int sum = cg::reduce(warp, tile[threadIdx.x], cg::plus<int>());
    if (four.thread_rank() == 0) out[threadIdx.x] = four.shfl(sum, 2) + cg::coalesced_threads().size();
    cg::this_grid().sync();
}
