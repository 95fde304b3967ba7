// Clusters, bulk copies, barriers in memory: compute_90 only.
#include <cuda/barrier>
#include <cooperative_groups.h>
#pragma nv_diag_suppress static_var_with_dynamic_init
__global__ void __cluster_dims__(2, 1, 1) clusters(const float *in, float *out) {
    __shared__ alignas(16) float tile[256];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&tile[0], in, cuda::aligned_size_t<16>(sizeof(tile)), bar);
    bar.arrive_and_wait();
    auto cluster = cooperative_groups::this_cluster();
    float *other = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
    cluster.sync();
    out[threadIdx.x] = other[threadIdx.x];
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 :: "r"((unsigned)__cvta_generic_to_shared(tile)), "l"(in), "r"(1), "r"(2), "r"(16));
    asm volatile("{ .reg .pred p; .reg .b32 r; elect.sync r|p, 0xffffffff; @p fence.proxy.async.shared::cta; }");
}
