#include <cuda_fp16.h>

// A warp for each row of halves: eight a thread and turn, sums by butterflies.
extern "C" __global__ void rmsnorm(const __half *__restrict__ x, const __half *__restrict__ w, __half *__restrict__ y,
                                   int rows, int dim, float eps) {
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= rows)
        return;
    const uint4 *in = reinterpret_cast<const uint4 *>(x + (size_t)row * dim);
    uint4 *out = reinterpret_cast<uint4 *>(y + (size_t)row * dim);
    float sum = 0;
    for (int i = lane; i < dim / 8; i += 32) {
        uint4 v = in[i];
        const __half2 *h = reinterpret_cast<const __half2 *>(&v);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float2 f = __half22float2(h[k]);
            sum += f.x * f.x + f.y * f.y;
        }
    }
    for (int m = 16; m; m >>= 1)
        sum += __shfl_xor_sync(~0u, sum, m);
    float scale = rsqrtf(sum / dim + eps);
    for (int i = lane; i < dim / 8; i += 32) {
        uint4 v = in[i], u = reinterpret_cast<const uint4 *>(w)[i];
        __half2 *h = reinterpret_cast<__half2 *>(&v);
        const __half2 *g = reinterpret_cast<const __half2 *>(&u);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float2 f = __half22float2(h[k]), c = __half22float2(g[k]);
            h[k] = __floats2half2_rn(f.x * scale * c.x, f.y * scale * c.y);
        }
        out[i] = v;
    }
}
