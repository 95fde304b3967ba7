// Half precision and bfloat16, single and in pairs.
#include "common.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __device__ unsigned bits(T v) { return *(unsigned short *)&v; }
template <class T> __device__ unsigned pair(T v) { return *(unsigned *)&v; }

template <class H, class H2> __device__ unsigned arithmetic(unsigned *out, unsigned i, unsigned n, H p, H q, H2 v, H2 w) {
    unsigned row = 0;
    ROW(bits(p + q)) ROW(bits(p - q)) ROW(bits(p * q)) ROW(bits(p / q)) ROW(bits(__hfma(p, q, p))) ROW(bits(-p)) ROW(bits(__habs(p)))
    ROW(bits(__hadd_sat(p, q))) ROW(bits(__hfma_sat(p, q, q))) ROW(bits(__hfma_relu(p, q, q))) ROW(bits(__hmax(p, q))) ROW(bits(__hmin(p, q)))
    ROW(bits(__hmax_nan(p, q))) ROW(bits(__hmin_nan(p, q))) ROW(p < q) ROW(p == q) ROW(p != q) ROW(__hgeu(p, q)) ROW(__hisnan(p)) ROW(__hisinf(p))
    ROW(pair(v + w)) ROW(pair(v - w)) ROW(pair(v * w)) ROW(pair(v / w)) ROW(pair(__hfma2(v, w, v))) ROW(pair(__hneg2(v))) ROW(pair(__habs2(v)))
    ROW(pair(__hmax2(v, w))) ROW(pair(__hmin2_nan(v, w))) ROW(pair(__heq2(v, w))) ROW(pair(__hltu2(v, w))) ROW(__hlt2_mask(v, w)) ROW(__hbge2(v, w))
     ROW(pair(__lowhigh2highlow(v))) ROW(bits(hfloor(p))) ROW(bits(hceil(p))) ROW(bits(htrunc(p))) ROW(bits(hrint(p)))
    ROW(bits(hsqrt(p))) ROW(bits(__hadd_rn(p, q))) ROW(pair(__hcmadd(v, w, v))) ROW(pair(__hsub2_sat(v, w)))
    return row;
}
#define UNPACK(H) H p, q; *(unsigned short *)&p = x; *(unsigned short *)&q = y; H##2 v, w; *(unsigned *)&v = x; *(unsigned *)&w = y;

KERNEL half_arithmetic(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    UNPACK(__half)
    row = arithmetic(out, i, n, p, q, v, w);
}

KERNEL bfloat_arithmetic(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    UNPACK(__nv_bfloat16)
    row = arithmetic(out, i, n, p, q, v, w);
}

KERNEL half_conversions(const float *a, const float *b, unsigned *out, unsigned n) {
    BEGIN
    ROW(bits(__float2half_rn(x))) ROW(bits(__float2half_rz(x))) ROW(bits(__float2half_ru(x))) ROW(bits(__float2half_rd(x)))
    ROW(bits(__double2half((double)x))) ROW(pair(__floats2half2_rn(x, y))) ROW(bits(__float2bfloat16_rn(x))) ROW(bits(__float2bfloat16_rz(x)))
    ROW(bits(__float2bfloat16_ru(x))) ROW(bits(__float2bfloat16_rd(x))) ROW(pair(__floats2bfloat162_rn(x, y))) ROW(bits(__double2bfloat16((double)y)))
    __half h = __float2half(x);
    __nv_bfloat16 g = __float2bfloat16(y);
    ROW(__float_as_uint(__half2float(h))) ROW(__float_as_uint(__bfloat162float(g))) ROW(__half2int_rn(h)) ROW(__half2int_rz(h)) ROW(__half2uint_ru(h))
    ROW(__half2short_rd(h)) ROW(__half2ushort_rn(h)) ROW((unsigned)__half2ll_rn(h)) ROW(__bfloat162int_rz(g)) ROW(__bfloat162uint_rn(g))
    ROW(bits(__int2half_rn((int)x))) ROW(bits(__uint2half_rz((unsigned)x))) ROW(bits(__short2half_ru((short)x))) ROW(bits(__ll2half_rd((long long)x)))
    ROW(bits(__int2bfloat16_rn((int)y))) ROW(bits(__ull2bfloat16_rz((unsigned long long)y)))
}

KERNEL half_functions(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    UNPACK(__half)
    ROW(bits(hexp(p))) ROW(bits(hlog(p))) ROW(bits(hsin(p))) ROW(bits(hcos(p))) ROW(bits(hexp2(p))) ROW(bits(hlog2(p))) ROW(bits(hrcp(p))) ROW(bits(hrsqrt(p)))
    ROW(bits(hlog10(q))) ROW(bits(hexp10(q))) ROW(bits(htanh(q)))
}

KERNEL bfloat_functions(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    UNPACK(__nv_bfloat16)
    ROW(bits(hexp(p))) ROW(bits(hlog(p))) ROW(bits(hsin(p))) ROW(bits(hcos(p))) ROW(bits(hexp2(p))) ROW(bits(hlog2(p))) ROW(bits(hrcp(p))) ROW(bits(hrsqrt(p)))
    ROW(bits(hlog10(q))) ROW(bits(hexp10(q))) ROW(bits(htanh(q)))
}
