// The functions of the CUDA math library in single precision.
#include "common.cuh"
#define ARGS const float *a, const float *b, float *out, unsigned n

KERNEL trigonometry_f32(ARGS) {
    BEGIN
    ROW(sinf(x)) ROW(cosf(x)) ROW(tanf(x)) ROW(sinpif(x)) ROW(cospif(x))
    float s, c;
    sincosf(y, &s, &c);
    ROW(s) ROW(c)
    sincospif(y, &s, &c);
    ROW(s) ROW(c)
    ROW(asinf(x)) ROW(acosf(x)) ROW(atanf(x)) ROW(atan2f(x, y))
}

KERNEL exponential_f32(ARGS) {
    BEGIN
    ROW(expf(x)) ROW(exp2f(x)) ROW(exp10f(x)) ROW(expm1f(x))
    ROW(logf(x)) ROW(log2f(x)) ROW(log10f(x)) ROW(log1pf(x)) ROW(logbf(x))
    ROW(powf(x, y)) ROW(sinhf(x)) ROW(coshf(x)) ROW(tanhf(x))
    ROW(asinhf(x)) ROW(acoshf(x)) ROW(atanhf(x))
}

KERNEL roots_f32(ARGS) {
    BEGIN
    ROW(sqrtf(x)) ROW(rsqrtf(x)) ROW(cbrtf(x)) ROW(rcbrtf(x)) ROW(hypotf(x, y)) ROW(rhypotf(x, y))
    ROW(norm3df(x, y, 1.5f)) ROW(rnorm3df(x, y, 1.5f)) ROW(norm4df(x, y, 2.f, 3.f)) ROW(rnorm4df(x, y, 2.f, 3.f))
    float p[3] = {x, y, x * 0.5f};
    ROW(normf(3, p)) ROW(rnormf(3, p))
}

KERNEL special_f32(ARGS) {
    BEGIN
    ROW(erff(x)) ROW(erfcf(x)) ROW(erfcxf(x)) ROW(erfinvf(x)) ROW(erfcinvf(x))
    ROW(normcdff(x)) ROW(normcdfinvf(x)) ROW(lgammaf(x)) ROW(tgammaf(x))
}

KERNEL bessel_f32(ARGS) {
    BEGIN
    ROW(j0f(x)) ROW(j1f(x)) ROW(y0f(x)) ROW(y1f(x)) ROW(cyl_bessel_i0f(x)) ROW(cyl_bessel_i1f(x))
    float m = fminf(fabsf(x), 30.f);
    ROW(jnf(3, m)) ROW(ynf(2, m))
}

KERNEL exact_f32(ARGS) {
    BEGIN
    ROW(floorf(x)) ROW(ceilf(x)) ROW(truncf(x)) ROW(rintf(x)) ROW(nearbyintf(x)) ROW(roundf(x))
    ROW((float)lrintf(x)) ROW((float)lroundf(x)) ROW((float)llrintf(x)) ROW((float)llroundf(x))
    ROW(fmodf(x, y)) ROW(remainderf(x, y))
    int quotient;
    float rest = remquof(x, y, &quotient);
    ROW(rest) ROW((float)(quotient & 7))
    ROW(fdimf(x, y)) ROW(fmaxf(x, y)) ROW(fminf(x, y)) ROW(fabsf(x)) ROW(copysignf(x, y))
    ROW(fmaf(x, y, 0.25f)) ROW(nextafterf(x, y)) ROW(x / y) ROW(1.0f / x) ROW(x * y + 1.0f)
    int exponent;
    float fraction = frexpf(x, &exponent);
    ROW(fraction) ROW((float)exponent) ROW(ldexpf(x, (int)(i % 300) - 150)) ROW(scalbnf(y, (int)(i % 60) - 30))
    ROW(scalblnf(y, (long)(i % 40) - 20)) ROW((float)ilogbf(x))
    float whole, part = modff(x, &whole);
    ROW(whole) ROW(part) ROW((float)signbit(x)) ROW((float)isfinite(x)) ROW((float)isnan(x)) ROW((float)isinf(x))
    ROW(__saturatef(x)) ROW(x > y ? x : y) ROW(x != y ? 1.f : 0.f) ROW(!(x < y) ? 1.f : 0.f)
}
