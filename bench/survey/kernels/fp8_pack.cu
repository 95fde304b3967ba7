#include <cuda_fp8.h>

// Scaled numbers to 8 bits (E4M3), four a thread, and what they stand for.
extern "C" __global__ void pack(const float4 *x, __nv_fp8x4_e4m3 *y, float4 *back, float scale, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 v = x[i];
    __nv_fp8x4_e4m3 q(make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale));
    y[i] = q;
    float4 f = (float4)q;
    back[i] = make_float4(f.x / scale, f.y / scale, f.z / scale, f.w / scale);
}
