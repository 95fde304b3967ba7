// c = a * b, halves with sums in float; n is a multiple of 64. Four warps make a tile of 64 x 64.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void wmma_gemm(const half *a, const half *b, float *c, int n) {
    __shared__ half left[64][40], right[32][72];
    int row = 64 * blockIdx.y, column = 64 * blockIdx.x, warp = threadIdx.x / 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4];
    for (int j = 0; j < 4; j++) wmma::fill_fragment(sums[j], 0.0f);
    for (int k = 0; k < n; k += 32) {
        for (int i = threadIdx.x; i < 256; i += 128) {
            *(int4 *)&left[i / 4][i % 4 * 8] = *(const int4 *)&a[(row + i / 4) * n + k + i % 4 * 8];
            *(int4 *)&right[i / 8][i % 8 * 8] = *(const int4 *)&b[(k + i / 8) * n + column + i % 8 * 8];
        }
        __syncthreads();
        for (int kk = 0; kk < 32; kk += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
            wmma::load_matrix_sync(x, &left[16 * warp][kk], 40);
            for (int j = 0; j < 4; j++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y;
                wmma::load_matrix_sync(y, &right[kk][16 * j], 72);
                wmma::mma_sync(sums[j], x, y, sums[j]);
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        wmma::store_matrix_sync(c + (row + 16 * warp) * n + column + 16 * j, sums[j], n, wmma::mem_row_major);
}
