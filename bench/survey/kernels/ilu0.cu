// Incomplete factors of a sparse matrix without fill, level by level of its rows, and Richardson's iteration with them:
// residual, solution with L and with U by levels (eight threads a row), correction and norm.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

struct Csr {
    int rows;
    long long entries;
};

extern "C" __global__ void ilu0_copy(const double *__restrict__ from, double *__restrict__ to, Csr m) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m.entries)
        to[i] = from[i];
}

// Rows of a level need only rows of levels before. Columns are in order.
extern "C" __global__ void ilu0_factor(const int *__restrict__ start, const int *__restrict__ column,
                                       const int *__restrict__ diagonal, double *lu, const int *__restrict__ order,
                                       int first, int count) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count)
        return;
    const int row = order[first + t];
    for (int e = start[row]; e < diagonal[row]; e++) {
        const int k = column[e];
        const double factor = lu[e] / lu[diagonal[k]];
        lu[e] = factor;
        int mine = e + 1;
        const int end = start[row + 1];
        for (int other = diagonal[k] + 1; other < start[k + 1]; other++) {
            const int c = column[other];
            while (mine < end && column[mine] < c)
                mine++;
            if (mine == end)
                break;
            if (column[mine] == c)
                lu[mine] -= factor * lu[other];
        }
    }
}

template <int N>
__device__ double row_sum(const cg::thread_block_tile<N> &tile, const int *__restrict__ column,
                          const double *__restrict__ value, const double *x, int from, int to) {
    double sum = 0.0;
    for (int e = from + tile.thread_rank(); e < to; e += N)
        sum += value[e] * x[column[e]];
    for (int offset = N / 2; offset > 0; offset /= 2)
        sum += tile.shfl_xor(sum, offset);
    return sum;
}

extern "C" __global__ void ilu0_residual(const int *__restrict__ start, const int *__restrict__ column,
                                         const double *__restrict__ value, const double *__restrict__ b,
                                         const double *__restrict__ x, double *__restrict__ r, Csr m) {
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8;
    if (row >= m.rows)
        return;
    const double sum = row_sum<8>(tile, column, value, x, start[row], start[row + 1]);
    if (tile.thread_rank() == 0)
        r[row] = b[row] - sum;
}

extern "C" __global__ void ilu0_lower(const int *__restrict__ start, const int *__restrict__ column,
                                      const int *__restrict__ diagonal, const double *__restrict__ lu,
                                      const double *__restrict__ r, double *y, const int *__restrict__ order, int first,
                                      int count) {
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int t = (blockIdx.x * blockDim.x + threadIdx.x) / 8;
    if (t >= count)
        return;
    const int row = order[first + t];
    const double sum = row_sum<8>(tile, column, lu, y, start[row], diagonal[row]);
    if (tile.thread_rank() == 0)
        y[row] = r[row] - sum;
}

extern "C" __global__ void ilu0_upper(const int *__restrict__ start, const int *__restrict__ column,
                                      const int *__restrict__ diagonal, const double *__restrict__ lu,
                                      const double *__restrict__ y, double *z, const int *__restrict__ order, int first,
                                      int count) {
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int t = (blockIdx.x * blockDim.x + threadIdx.x) / 8;
    if (t >= count)
        return;
    const int row = order[first + t];
    const double sum = row_sum<8>(tile, column, lu, z, diagonal[row] + 1, start[row + 1]);
    if (tile.thread_rank() == 0)
        z[row] = (y[row] - sum) / lu[diagonal[row]];
}

extern "C" __global__ void ilu0_correct(double *__restrict__ x, const double *__restrict__ z,
                                        const double *__restrict__ r, double *norm, int n) {
    __shared__ double total;
    if (threadIdx.x == 0)
        total = 0.0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    double square = 0.0;
    if (i < n) {
        x[i] += z[i];
        square = r[i] * r[i];
    }
    for (int offset = 16; offset > 0; offset /= 2)
        square += __shfl_down_sync(0xffffffffu, square, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&total, square);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(norm, total);
}
