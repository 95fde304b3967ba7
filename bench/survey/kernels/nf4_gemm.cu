// A few rows of halves by a matrix in NF4: 4 bits that number one of 16 normal quantiles, and a scale for each 64
// weights. A warp for each column of the result, for all rows at once.
#include <cuda_fp16.h>
#include <stdint.h>

#define ROWS 4
#define GROUP 64
#define WARPS 4

__constant__ float nf4_levels[16] = {-1.0f,        -0.69619280f, -0.52507305f, -0.39491749f, -0.28444138f, -0.18477343f,
                                     -0.09105004f, 0.0f,         0.07958030f,  0.16093020f,  0.24611230f,  0.33791524f,
                                     0.44070983f,  0.56261700f,  0.72295684f,  1.0f};

union Packed {
    uint4 words;
    uint8_t bytes[16];
};

union Halves {
    uint4 words;
    half2 pairs[4];
};

template <int M>
__device__ void column(const half *x, const uint8_t *packed, const float *scales, const float *levels, int k, int lane,
                       float (&sums)[M]) {
    // 32 weights a lane and round
    for (int at = lane * 32; at < k; at += 32 * 32) {
        Packed weights;
        weights.words = *reinterpret_cast<const uint4 *>(packed + at / 2);
        float scale = scales[at / GROUP];
#pragma unroll
        for (int part = 0; part < 4; part++) {
            float w[8];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                uint8_t byte = weights.bytes[part * 4 + i];
                w[2 * i] = levels[byte >> 4] * scale;
                w[2 * i + 1] = levels[byte & 15] * scale;
            }
#pragma unroll
            for (int m = 0; m < M; m++) {
                Halves h;
                h.words = *reinterpret_cast<const uint4 *>(x + (size_t)m * k + at + part * 8);
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    float2 f = __half22float2(h.pairs[i]);
                    sums[m] += f.x * w[2 * i];
                    sums[m] += f.y * w[2 * i + 1];
                }
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
    nf4_gemm(const half *__restrict__ x, const uint8_t *__restrict__ packed, const float *__restrict__ absmax,
             const half *__restrict__ bias, half *__restrict__ out, int n, int k) {
    __shared__ float levels[16];
    if (threadIdx.x < 16)
        levels[threadIdx.x] = nf4_levels[threadIdx.x];
    __syncthreads();
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int col = blockIdx.x * WARPS + warp;
    if (col >= n)
        return;
    float sums[ROWS] = {0.0f, 0.0f, 0.0f, 0.0f};
    column<ROWS>(x, packed + (size_t)col * k / 2, absmax + (size_t)col * k / GROUP, levels, k, lane, sums);
#pragma unroll
    for (int m = 0; m < ROWS; m++) {
        for (int offset = 16; offset > 0; offset >>= 1)
            sums[m] += __shfl_down_sync(0xffffffff, sums[m], offset);
        if (lane == 0)
            out[(size_t)m * n + col] = __float2half(sums[m] + __half2float(bias[col]));
    }
}
