// Products of matrices of bytes by warp matrices (nvcuda::wmma), 16 x 16 x 16, four warps a block with 32 x 32 each;
// then a bias, a scale and bytes again.
#include <mma.h>
using namespace nvcuda;

constexpr int T = 16, PER = 2;

extern "C" __global__ void __launch_bounds__(128)
    wmma_int8(const signed char *__restrict__ a, const signed char *__restrict__ b, const int *__restrict__ bias,
              signed char *__restrict__ c, int m, int n, int k, int multiplier, int shift) {
    __shared__ int results[4][T][T];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int row = blockIdx.y * 64 + warp / 2 * 32, column = blockIdx.x * 64 + warp % 2 * 32;
    if (row >= m || column >= n)
        return;
    wmma::fragment<wmma::matrix_a, T, T, T, signed char, wmma::row_major> fa[PER];
    wmma::fragment<wmma::matrix_b, T, T, T, signed char, wmma::col_major> fb[PER];
    wmma::fragment<wmma::accumulator, T, T, T, int> sums[PER][PER];
    for (auto &line : sums)
        for (auto &sum : line)
            wmma::fill_fragment(sum, 0);
    for (int step = 0; step < k; step += T) {
#pragma unroll
        for (int i = 0; i < PER; i++) {
            wmma::load_matrix_sync(fa[i], a + (size_t)(row + i * T) * k + step, k);
            wmma::load_matrix_sync(fb[i], b + (size_t)(column + i * T) * k + step, k);
        }
#pragma unroll
        for (int i = 0; i < PER; i++)
#pragma unroll
            for (int j = 0; j < PER; j++)
                wmma::mma_sync(sums[i][j], fa[i], fb[j], sums[i][j]);
    }
    for (int i = 0; i < PER; i++)
        for (int j = 0; j < PER; j++) {
            wmma::store_matrix_sync(&results[warp][0][0], sums[i][j], T, wmma::mem_row_major);
            __syncwarp();
            for (int e = lane; e < T * T; e += 32) {
                int r = e / T, s = e % T, at = column + j * T + s;
                long long v = (long long)(results[warp][r][s] + bias[at]) * multiplier;
                int q = (int)((v + (1ll << (shift - 1))) >> shift);
                c[(size_t)(row + i * T + r) * n + at] = (signed char)max(-128, min(127, q));
            }
            __syncwarp();
        }
}
