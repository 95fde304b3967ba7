#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

// Eight threads a row of a sparse matrix.
template <int WIDTH>
__device__ void rows_by_tiles(const int *__restrict__ starts, const int *__restrict__ columns,
                              const float *__restrict__ values, const float *__restrict__ x, float *__restrict__ y,
                              int rows) {
    auto tile = cg::tiled_partition<WIDTH>(cg::this_thread_block());
    int row = blockIdx.x * (blockDim.x / WIDTH) + threadIdx.x / WIDTH;
    if (row >= rows)
        return;
    float sum = 0;
    for (int k = starts[row] + tile.thread_rank(); k < starts[row + 1]; k += tile.size())
        sum += values[k] * __ldg(x + columns[k]);
    sum = cg::reduce(tile, sum, cg::plus<float>());
    if (tile.thread_rank() == 0)
        y[row] = sum;
}

extern "C" __global__ void spmv8(const int *starts, const int *columns, const float *values, const float *x, float *y,
                                 int rows) {
    rows_by_tiles<8>(starts, columns, values, x, y, rows);
}
