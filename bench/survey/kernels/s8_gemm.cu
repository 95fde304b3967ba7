// C = A B^T of 8-bit integers, four at a time by dp4a, and half precision out by scales of the columns: CTAs of
// 16 x 16 threads make tiles of 64 x 64, each thread 4 x 4 of it.
#include <cuda_fp16.h>

#define TILE 64
#define QUADS 16

extern "C" __global__ void s8_gemm(const signed char *__restrict__ a, const signed char *__restrict__ b,
                                   const float *__restrict__ channel_scale, __half *__restrict__ c, int m, int n, int k,
                                   float a_scale) {
    __shared__ int a_tile[QUADS][TILE + 1];
    __shared__ int b_tile[QUADS][TILE + 1];
    const int *a4 = reinterpret_cast<const int *>(a);
    const int *b4 = reinterpret_cast<const int *>(b);
    int quads = k / 4;
    int tx = threadIdx.x, ty = threadIdx.y;
    int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;

    int acc[4][4] = {};
    for (int q0 = 0; q0 < quads; q0 += QUADS) {
        for (int i = ty; i < TILE; i += 16) {
            int q = q0 + tx;
            a_tile[tx][i] = row0 + i < m && q < quads ? a4[(row0 + i) * quads + q] : 0;
            b_tile[tx][i] = col0 + i < n && q < quads ? b4[(col0 + i) * quads + q] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int q = 0; q < QUADS; q++) {
            int av[4], bv[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                av[i] = a_tile[q][ty * 4 + i];
                bv[i] = b_tile[q][tx * 4 + i];
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    acc[i][j] = __dp4a(av[i], bv[j], acc[i][j]);
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < 4; i++) {
        int row = row0 + ty * 4 + i;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int col = col0 + tx * 4 + j;
            if (row < m && col < n)
                c[row * n + col] = __float2half((float)acc[i][j] * (a_scale * channel_scale[col]));
        }
    }
}
