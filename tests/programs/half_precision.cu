// Half precision: scalars, pairs, and conversions both ways.
#include <cuda_fp16.h>

extern "C" __global__ void half_axpy(int n, float a, const __half *x, __half *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __hadd_rn(__hmul_rn(__float2half_rn(a), x[i]), y[i]);
}

extern "C" __global__ void half2_fma(int n, const __half2 *a, const __half2 *b, __half2 *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = __hfma2(a[i], b[i], c[i]);
}

extern "C" __global__ void half_to_float(int n, const __half *x, float *wide, __half *doubled, unsigned char *less)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    wide[i] = __half2float(x[i]);
    doubled[i] = __float2half_rn(2.0f * wide[i]);
    less[i] = __hlt(x[i], doubled[i]);
}
