#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_store.cuh>

// Tiles of 1,024 pairs, sorted by key.
extern "C" __global__ void __launch_bounds__(128) tile_sort(const unsigned *__restrict__ keys,
                                                            const int *__restrict__ values,
                                                            unsigned *__restrict__ sorted, int *__restrict__ order) {
    using LoadKeys = cub::BlockLoad<unsigned, 128, 8, cub::BLOCK_LOAD_TRANSPOSE>;
    using LoadValues = cub::BlockLoad<int, 128, 8, cub::BLOCK_LOAD_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<unsigned, 128, 8, int>;
    __shared__ union {
        typename LoadKeys::TempStorage keys;
        typename LoadValues::TempStorage values;
        typename Sort::TempStorage sort;
    } storage;
    unsigned key[8];
    int value[8];
    size_t start = (size_t)blockIdx.x * 1024;
    LoadKeys(storage.keys).Load(keys + start, key);
    __syncthreads();
    LoadValues(storage.values).Load(values + start, value);
    __syncthreads();
    Sort(storage.sort).SortBlockedToStriped(key, value);
    cub::StoreDirectStriped<128>(threadIdx.x, sorted + start, key);
    cub::StoreDirectStriped<128>(threadIdx.x, order + start, value);
}
