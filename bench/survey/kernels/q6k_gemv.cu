// A matrix of 6 bits a weight times a vector: blocks of 256 weights with 16 scales of 8 bits and one in half precision.
// The vector becomes 8 bits first, 32 numbers a scale; then a warp a row multiplies four numbers at a time.
#include <cuda_fp16.h>
#include <stdint.h>
#define QK_K 256
#define QK8_1 32
#define WARP_SIZE 32

typedef struct {
    uint8_t ql[QK_K / 2];
    uint8_t qh[QK_K / 4];
    int8_t scales[QK_K / 16];
    half d;
} block_q6_K;

typedef struct {
    half2 ds;
    int8_t qs[QK8_1];
} block_q8_1;

static __device__ __forceinline__ int get_int_b2(const void *x, const int i32) {
    const uint16_t *x16 = (const uint16_t *)x;
    int x32 = x16[2 * i32 + 0] << 0;
    x32 |= x16[2 * i32 + 1] << 16;
    return x32;
}

static __device__ __forceinline__ int get_int_b4(const void *x, const int i32) { return ((const int *)x)[i32]; }

template <int width = WARP_SIZE> static __device__ __forceinline__ float warp_reduce_sum(float x) {
#pragma unroll
    for (int offset = width / 2; offset > 0; offset >>= 1)
        x += __shfl_xor_sync(0xffffffff, x, offset, width);
    return x;
}

template <int width = WARP_SIZE> static __device__ __forceinline__ float warp_reduce_max(float x) {
#pragma unroll
    for (int offset = width / 2; offset > 0; offset >>= 1)
        x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, offset, width));
    return x;
}

extern "C" __global__ void quantize_q8(const float *__restrict__ x, void *__restrict__ vy, const int kx) {
    const int ix = blockDim.x * blockIdx.x + threadIdx.x;
    block_q8_1 *y = (block_q8_1 *)vy;
    const int ib = ix / QK8_1, iqs = ix % QK8_1;
    const float xi = ix < kx ? x[ix] : 0.0f;
    const float amax = warp_reduce_max(fabsf(xi));
    const float sum = warp_reduce_sum(xi);
    const float d = amax / 127;
    const int8_t q = amax == 0.0f ? 0 : roundf(xi / d);
    if (ix >= kx)
        return;
    y[ib].qs[iqs] = q;
    if (iqs == 0)
        y[ib].ds = make_half2(d, sum);
}

static __device__ __forceinline__ float vec_dot_q6_K(const block_q6_K *bq6, const block_q8_1 *bq8, const int lane) {
    const int n = lane / 16, part = lane / 8 % 2, i = lane % 8;
    const int vl = get_int_b2(bq6->ql, n * 16 + part * 8 + i);
    const int vh = get_int_b2(bq6->qh, n * 8 + i) >> (2 * part);
    const int8_t *scales = bq6->scales + 8 * n + i / 4 + 2 * part;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        const int vil = (vl >> (4 * k)) & 0x0F0F0F0F;
        const int vih = ((vh >> (4 * k)) << 4) & 0x30303030;
        const int vi = __vsubss4(vil | vih, 0x20202020);
        const block_q8_1 *b8 = bq8 + 4 * n + part + 2 * k;
        sum += __low2float(b8->ds) * (__dp4a(vi, get_int_b4(b8->qs, i), 0) * scales[4 * k]);
    }
    return __half2float(bq6->d) * sum;
}

extern "C" __global__ void mul_mat_vec_q6_K(const void *__restrict__ vx, const void *__restrict__ vy,
                                            float *__restrict__ dst, const int ncols, const int nrows) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= nrows)
        return;
    const int blocks_per_row = ncols / QK_K;
    const block_q6_K *x = (const block_q6_K *)vx + (int64_t)row * blocks_per_row;
    const block_q8_1 *y = (const block_q8_1 *)vy;
    float tmp = 0.0f;
    for (int i = 0; i < blocks_per_row; ++i)
        tmp += vec_dot_q6_K(x + i, y + i * (QK_K / QK8_1), threadIdx.x);
    tmp = warp_reduce_sum(tmp);
    if (threadIdx.x == 0)
        dst[row] = tmp;
}
