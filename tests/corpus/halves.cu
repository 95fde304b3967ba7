// Half precision, bfloat16, packed pairs.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void halves(__half *h, __half2 *h2, __nv_bfloat16 *b, float *f) {
    int i = threadIdx.x;
    h[i] = __hfma(h[i], h[i + 1], __float2half(f[i]));
    h2[i] = __hadd2(h2[i], __hmul2(h2[i + 1], __floats2half2_rn(1.f, 2.f)));
    b[i] = __float2bfloat16(f[i] + __bfloat162float(b[i + 1]));
    f[i] = __half2float(hsqrt(h[i])) + __low2float(h2[i]);
    if (__hgt(h[i], h[i + 1])) h[i] = hexp(h[i]);
}
