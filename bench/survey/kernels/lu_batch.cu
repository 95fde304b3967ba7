// LU with partial pivoting of many small matrices (up to 32 x 32, double), and the solution of a system with each:
// a warp a matrix, which lies in shared memory.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

#define MAX_N 32
#define WARPS 4

struct Pivot {
    double size;
    int row;
};

template <typename Tile>
__device__ Pivot largest(const Tile &tile, Pivot p) {
    for (int offset = tile.size() / 2; offset > 0; offset /= 2) {
        double size = tile.shfl_xor(p.size, offset);
        int row = tile.shfl_xor(p.row, offset);
        if (size > p.size || (size == p.size && row < p.row)) {
            p.size = size;
            p.row = row;
        }
    }
    return p;
}

extern "C" __global__ void lu_batch(double *matrices, double *rhs, int *pivots, int *info, int n, int count) {
    __shared__ double storage[WARPS][MAX_N][MAX_N + 1];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    int lane = tile.thread_rank(), which = blockIdx.x * WARPS + tile.meta_group_rank();
    if (which >= count)
        return;
    double(*a)[MAX_N + 1] = storage[tile.meta_group_rank()];
    double *matrix = matrices + (size_t)which * n * n, *x = rhs + (size_t)which * n;
    for (int i = 0; i < n; i++)
        if (lane < n)
            a[i][lane] = matrix[i * n + lane];
    double b = lane < n ? x[lane] : 0.0;
    int failed = 0;
    tile.sync();

    for (int k = 0; k < n; k++) {
        Pivot candidate = {lane >= k && lane < n ? fabs(a[lane][k]) : -1.0, lane};
        Pivot p = largest(tile, candidate);
        if (p.size == 0.0) {
            if (!failed)
                failed = k + 1;
            if (lane == 0)
                pivots[(size_t)which * n + k] = k;
            continue;
        }
        if (lane == 0)
            pivots[(size_t)which * n + k] = p.row;
        if (p.row != k) {
            if (lane < n) {
                double swapped = a[k][lane];
                a[k][lane] = a[p.row][lane];
                a[p.row][lane] = swapped;
            }
            double bk = tile.shfl(b, k), bp = tile.shfl(b, p.row);
            if (lane == k)
                b = bp;
            else if (lane == p.row)
                b = bk;
        }
        tile.sync();
        if (lane > k && lane < n)
            a[lane][k] /= a[k][k];
        tile.sync();
        if (lane > k && lane < n) {
            double top = a[k][lane];
            for (int i = k + 1; i < n; i++)
                a[i][lane] -= a[i][k] * top;
        }
        tile.sync();
    }
    // L y = b, then U x = y; a lane for each row
    if (!failed) {
        for (int k = 0; k < n; k++) {
            double bk = tile.shfl(b, k);
            if (lane > k && lane < n)
                b -= a[lane][k] * bk;
        }
        for (int k = n - 1; k >= 0; k--) {
            if (lane == k)
                b /= a[k][k];
            double bk = tile.shfl(b, k);
            if (lane < k)
                b -= a[lane][k] * bk;
        }
    }
    if (lane < n)
        x[lane] = b;
    for (int i = 0; i < n; i++)
        if (lane < n)
            matrix[i * n + lane] = a[i][lane];
    if (lane == 0)
        info[which] = failed;
}
