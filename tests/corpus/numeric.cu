// Single and double mathematics, conversions, intrinsics with rounding.
#include <cmath>
__global__ void doubles(double *d, float *f, long long *q, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = d[i];
    d[i] = sin(x) * exp(-x) + pow(x, 2.5) + sqrt(x) / (1.0 + x * x) + fma(x, x, 0.1);
    f[i] = sinf(f[i]) + __expf(f[i]) + rsqrtf(f[i]) + __fmul_rz(f[i], 3.f) + __fdividef(f[i], 7.f) + (float)x;
    q[i] = llrint(x) + __float2int_ru(f[i]) + __double_as_longlong(x) + q[i] / 10 + __mul64hi(q[i], q[i]);
    f[i] = isnan(x) ? 1e-40f : copysignf(f[i], -0.0f);
}
__global__ void narrow(signed char *a, unsigned short *b, unsigned long long *c) {
    int i = threadIdx.x;
    a[i] = a[i] * 3 + b[i];
    b[i] = __byte_perm(b[i], a[i], 0x1032) + __umul24(a[i], b[i]);
    c[i] = c[i] << (a[i] & 63) | c[i] >> 7;
}
