// Arithmetic with a rounding direction in the name of the function.
#include "common.cuh"
#define EACH(DO) DO(rn) DO(rz) DO(ru) DO(rd)

KERNEL rounding_f32(const float *a, const float *b, float *out, unsigned n) {
    BEGIN
#define DO(r) ROW(__fadd_##r(x, y)) ROW(__fsub_##r(x, y)) ROW(__fmul_##r(x, y)) ROW(__fdiv_##r(x, y)) \
    ROW(__fmaf_##r(x, y, 1.5f)) ROW(__frcp_##r(x)) ROW(__fsqrt_##r(x)) ROW(__fmaf_ieee_##r(x, y, x))
    EACH(DO)
#undef DO
}

KERNEL rounding_f64(const double *a, const double *b, double *out, unsigned n) {
    BEGIN
#define DO(r) ROW(__dadd_##r(x, y)) ROW(__dsub_##r(x, y)) ROW(__dmul_##r(x, y)) ROW(__ddiv_##r(x, y)) \
    ROW(__fma_##r(x, y, 1.5)) ROW(__drcp_##r(x)) ROW(__dsqrt_##r(x))
    EACH(DO)
#undef DO
}

KERNEL from_f32(const float *a, const float *b, long long *out, unsigned n) {
    BEGIN
#define DO(r) ROW(__float2int_##r(x)) ROW(__float2uint_##r(x)) ROW(__float2ll_##r(x)) ROW(__float2ull_##r(x))
    EACH(DO)
#undef DO
    ROW(__float_as_int(x)) ROW((signed char)(int)y) ROW((unsigned short)(int)y) ROW((int)x) ROW((unsigned)y)
    ROW((long long)x) ROW((unsigned long long)y) ROW(__double_as_longlong((double)x))
}

KERNEL from_f64(const double *a, const double *b, long long *out, unsigned n) {
    BEGIN
#define DO(r) ROW(__double2int_##r(x)) ROW(__double2uint_##r(x)) ROW(__double2ll_##r(x)) \
    ROW(__double2ull_##r(x)) ROW(__float_as_int(__double2float_##r(x)))
    EACH(DO)
#undef DO
    ROW(__double2hiint(x)) ROW(__double2loint(x)) ROW(__double_as_longlong(__hiloint2double(i, __double2loint(y))))
    ROW((short)x) ROW((unsigned char)y) ROW(x == y) ROW(__double_as_longlong((double)(float)x))
}

KERNEL from_int(const long long *a, const long long *b, long long *out, unsigned n) {
    BEGIN
#define DO(r) ROW(__float_as_int(__int2float_##r((int)x))) ROW(__float_as_int(__uint2float_##r((unsigned)x))) \
    ROW(__float_as_int(__ll2float_##r(x))) ROW(__float_as_int(__ull2float_##r(x))) \
    ROW(__double_as_longlong(__ll2double_##r(x))) ROW(__double_as_longlong(__ull2double_##r(y)))
    EACH(DO)
#undef DO
    ROW(__double_as_longlong(__int2double_rn((int)y))) ROW(__double_as_longlong(__uint2double_rn((unsigned)y)))
    ROW(__float_as_int((float)(signed char)x)) ROW(__float_as_int((float)(unsigned short)x))
}
