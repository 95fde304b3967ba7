#include <cuda_bf16.h>

// y = A x + b in bfloat16 with sums in float: a warp for each row, which reads two numbers at a time.
extern "C" __global__ void bf16_gemv(const __nv_bfloat162 *__restrict__ a, const __nv_bfloat162 *__restrict__ x,
                                     const __nv_bfloat16 *__restrict__ bias, __nv_bfloat16 *__restrict__ y, int rows,
                                     int cols) {
    int lane = threadIdx.x & 31;
    int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (row >= rows)
        return;

    int pairs = cols / 2;
    const __nv_bfloat162 *line = a + (size_t)row * pairs;
    float sum = 0.0f;
    for (int i = lane; i < pairs; i += 32) {
        float2 p = __bfloat1622float2(line[i]);
        float2 q = __bfloat1622float2(x[i]);
        sum += p.x * q.x;
        sum += p.y * q.y;
    }
    for (int offset = 16; offset > 0; offset >>= 1)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0)
        y[row] = __float2bfloat16(sum + __bfloat162float(bias[row]));
}
