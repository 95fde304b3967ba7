// Functions that are approximate by definition.
#include "common.cuh"

KERNEL fast_f32(const float *a, const float *b, float *out, unsigned n) {
    BEGIN
    ROW(__expf(x)) ROW(__exp10f(x)) ROW(__log2f(x)) ROW(__logf(x)) ROW(__log10f(x)) ROW(__powf(x, y))
    ROW(__fdividef(x, y)) ROW(__frsqrt_rn(x)) ROW(rsqrtf(x)) ROW(__saturatef(x))
}

KERNEL fast_angle_f32(const float *a, const float *b, float *out, unsigned n) {
    BEGIN
    float s, c;
    __sincosf(x, &s, &c);
    ROW(__sinf(x)) ROW(__cosf(x)) ROW(s) ROW(c) ROW(__tanhf(x))
}
