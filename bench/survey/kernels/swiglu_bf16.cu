#include <cuda_bf16.h>

// silu(gate) * up of rows of bfloat16, two numbers a thread.
extern "C" __global__ void swiglu(const __nv_bfloat162 *__restrict__ gate, const __nv_bfloat162 *__restrict__ up,
                                  __nv_bfloat162 *__restrict__ out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float2 g = __bfloat1622float2(gate[i]), u = __bfloat1622float2(up[i]);
        g.x = g.x / (1.0f + __expf(-g.x)) * u.x;
        g.y = g.y / (1.0f + __expf(-g.y)) * u.y;
        out[i] = __floats2bfloat162_rn(g.x, g.y);
    }
}
