#include <cub/block/block_scan.cuh>

// y = A x for a CSR matrix whose rows are of any length: each thread gets as much of the merge of row ends and
// nonzeros as any other; sums of rows that threads or CTAs share are carried on.
constexpr int THREADS = 128, ITEMS = 7, TILE = THREADS * ITEMS;

struct Carry {
    int row;
    double sum;
};

struct SumOfRow {
    __device__ Carry operator()(const Carry &a, const Carry &b) const {
        return {b.row, a.row == b.row ? a.sum + b.sum : b.sum};
    }
};

// How many of the first `diagonal` items are row ends; nonzeros are numbered from `first`.
__device__ __forceinline__ int path(int diagonal, const int *row_end, int rows, int nonzeros, int first) {
    int low = max(diagonal - nonzeros, 0), high = min(diagonal, rows);
    while (low < high) {
        int middle = (low + high) >> 1;
        if (row_end[middle] <= first + diagonal - middle - 1)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

extern "C" __global__ void spmv_search(const int *__restrict__ row_start, int2 *__restrict__ starts, int rows,
                                       int nonzeros, int tiles) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t > tiles)
        return;
    int diagonal = min(t * TILE, rows + nonzeros);
    int row = path(diagonal, row_start + 1, rows, nonzeros, 0);
    starts[t] = make_int2(row, diagonal - row);
}

extern "C" __global__ void __launch_bounds__(THREADS) spmv_tiles(const int *__restrict__ row_start,
                                                                const int *__restrict__ columns,
                                                                const double *__restrict__ values,
                                                                const double *__restrict__ x, double *__restrict__ y,
                                                                const int2 *__restrict__ starts,
                                                                Carry *__restrict__ carries) {
    using Scan = cub::BlockScan<Carry, THREADS>;
    __shared__ typename Scan::TempStorage storage;
    __shared__ int ends[TILE + 1];
    __shared__ double products[TILE];
    const int2 start = starts[blockIdx.x], stop = starts[blockIdx.x + 1];
    const int rows = stop.x - start.x, nonzeros = stop.y - start.y;
    for (int i = threadIdx.x; i < rows; i += THREADS)
        ends[i] = row_start[start.x + i + 1];
    for (int i = threadIdx.x; i < nonzeros; i += THREADS)
        products[i] = values[start.y + i] * x[columns[start.y + i]];
    if (threadIdx.x == 0)
        ends[rows] = INT_MAX;  // a row that goes on
    __syncthreads();

    int diagonal = min((int)threadIdx.x * ITEMS, rows + nonzeros);
    int row = path(diagonal, ends, rows, nonzeros, start.y), at = diagonal - row;
    const int first_row = row;
    double sum = 0, first_sum = 0;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        if (diagonal + i >= rows + nonzeros)
            break;
        if (start.y + at < ends[row]) {
            sum += products[at++];
        } else {
            if (row == first_row)
                first_sum = sum;
            else
                y[start.x + row] = sum;
            sum = 0;
            row++;
        }
    }
    Carry before, all;
    Scan(storage).ExclusiveScan(Carry{row, sum}, before, Carry{0, 0.0}, SumOfRow(), all);
    if (row > first_row)
        y[start.x + first_row] = first_sum + (before.row == first_row ? before.sum : 0.0);
    if (threadIdx.x == 0)
        carries[blockIdx.x] = Carry{start.x + all.row, all.sum};
}

extern "C" __global__ void spmv_carries(const Carry *__restrict__ carries, double *y, int rows, int tiles) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < tiles && carries[t].row < rows)
        atomicAdd(&y[carries[t].row], carries[t].sum);
}
