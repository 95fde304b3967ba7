// Products of matrices by warps, through `nvcuda::wmma`.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// d = alpha * a * b + beta * c; a warp for each tile of 16 x 16. `a` by rows, `b` by columns.
extern "C" __global__ void scaled(const half *a, const half *b, const float *c, float *d, int columns, int inner,
                                  float alpha, float beta) {
    int row = 16 * (blockIdx.y * blockDim.y + threadIdx.y), column = 16 * blockIdx.x;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, third;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < inner; k += 16) {
        wmma::load_matrix_sync(left, a + row * inner + k, inner);
        wmma::load_matrix_sync(right, b + column * inner + k, inner);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::load_matrix_sync(third, c + row * columns + column, columns, wmma::mem_row_major);
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] = alpha * sum.x[i] + beta * third.x[i];
    wmma::store_matrix_sync(d + row * columns + column, sum, columns, wmma::mem_row_major);
}

// A CTA of four warps: strips of `a` and `b` in shared memory, tiles of 8 x 32 of bytes. All by rows but `d`.
extern "C" __global__ void of_bytes(const signed char *a, const signed char *b, int *d, int rows, int columns,
                                    int inner) {
    __shared__ alignas(32) signed char left[32][16], right[16][32];
    int warp = threadIdx.x / 32, row = 32 * blockIdx.y, column = 32 * blockIdx.x;
    wmma::fragment<wmma::matrix_a, 8, 32, 16, signed char, wmma::row_major> l;
    wmma::fragment<wmma::matrix_b, 8, 32, 16, signed char, wmma::row_major> r;
    wmma::fragment<wmma::accumulator, 8, 32, 16, int> sum;
    wmma::fill_fragment(sum, 0);
    for (int k = 0; k < inner; k += 16) {
        for (int i = threadIdx.x; i < 512; i += blockDim.x) {
            left[i / 16][i % 16] = a[(row + i / 16) * inner + k + i % 16];
            right[i / 32][i % 32] = b[(k + i / 32) * columns + column + i % 32];
        }
        __syncthreads();
        wmma::load_matrix_sync(l, &left[8 * warp][0], 16);
        wmma::load_matrix_sync(r, &right[0][0], 32);
        wmma::mma_sync(sum, l, r, sum);
        __syncthreads();
    }
    wmma::store_matrix_sync(d + column * rows + row + 8 * warp, sum, rows, wmma::mem_col_major);
}

// Singles of 10 bits: a warp makes a tile of 16 x 16 of a product with the transpose.
extern "C" __global__ void by_itself(const float *a, float *d, int inner) {
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < inner; k += 8) {
        wmma::load_matrix_sync(left, a + k, inner);
        wmma::load_matrix_sync(right, a + k, inner);
        for (int i = 0; i < left.num_elements; i++) left.x[i] = wmma::__float_to_tf32(left.x[i]);
        for (int i = 0; i < right.num_elements; i++) right.x[i] = wmma::__float_to_tf32(right.x[i]);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(d, sum, 16, wmma::mem_row_major);
}
