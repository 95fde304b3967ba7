#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

// Exclusive prefix sums of tiles of 1,024.
extern "C" __global__ void __launch_bounds__(128) tile_scan(const int *__restrict__ in, int *__restrict__ out,
                                                            int *__restrict__ totals, int n) {
    using Load = cub::BlockLoad<int, 128, 8, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Store = cub::BlockStore<int, 128, 8, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    using Scan = cub::BlockScan<int, 128, cub::BLOCK_SCAN_RAKING_MEMOIZE>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Scan::TempStorage scan;
    } storage;
    int items[8], total, start = blockIdx.x * 1024;
    Load(storage.load).Load(in + start, items, n - start, 0);
    __syncthreads();
    Scan(storage.scan).ExclusiveSum(items, items, total);
    __syncthreads();
    Store(storage.store).Store(out + start, items, n - start);
    if (threadIdx.x == 0)
        totals[blockIdx.x] = total;
}
