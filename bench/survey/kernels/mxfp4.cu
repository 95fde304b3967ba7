// Matrix times vector with weights in MXFP4: 32 values of 4 bits (e2m1) share a power of two (e8m0). A warp a row,
// a lane a block of 32 at a time; with bias.
#include <cuda_runtime.h>
__constant__ float e2m1[16] = {0.0f,  0.5f,  1.0f,  1.5f,  2.0f,  3.0f,  4.0f,  6.0f,
                               -0.0f, -0.5f, -1.0f, -1.5f, -2.0f, -3.0f, -4.0f, -6.0f};

__device__ __forceinline__ float e8m0(unsigned char e) {
    // 2^(e - 127); e = 0 is a subnormal, 255 is NaN
    return __uint_as_float(e == 0 ? 0x00400000u : (e == 255 ? 0x7fc00000u : (unsigned)e << 23));
}

__device__ __forceinline__ float dot8(unsigned int word, const float *x) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; i++)
        sum += e2m1[(word >> (4 * i)) & 15] * x[i];
    return sum;
}

extern "C" __global__ void __launch_bounds__(256)
mxfp4_gemv(const uint4 *__restrict__ packed, const unsigned char *__restrict__ scales, const float *__restrict__ x,
           const float *__restrict__ bias, float *__restrict__ y, int rows, int blocks_per_row) {
    int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    int lane = threadIdx.x & 31;
    if (row >= rows)
        return;
    const uint4 *w = packed + (size_t)row * blocks_per_row;
    const unsigned char *s = scales + (size_t)row * blocks_per_row;
    float acc = 0.0f;
    for (int b = lane; b < blocks_per_row; b += 32) {
        uint4 q = w[b];
        const float *xb = x + b * 32;
        float part = dot8(q.x, xb) + dot8(q.y, xb + 8) + dot8(q.z, xb + 16) + dot8(q.w, xb + 24);
        acc += part * e8m0(s[b]);
    }
    for (int mask = 16; mask > 0; mask >>= 1)
        acc += __shfl_xor_sync(0xffffffff, acc, mask);
    if (lane == 0)
        y[row] = acc + bias[row];
}
