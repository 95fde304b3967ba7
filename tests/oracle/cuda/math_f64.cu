// The functions of the CUDA math library in double precision.
#include "common.cuh"
#define ARGS const double *a, const double *b, double *out, unsigned n

KERNEL trigonometry_f64(ARGS) {
    BEGIN
    ROW(sin(x)) ROW(cos(x)) ROW(tan(x)) ROW(sinpi(x)) ROW(cospi(x))
    double s, c;
    sincos(y, &s, &c);
    ROW(s) ROW(c)
    sincospi(y, &s, &c);
    ROW(s) ROW(c)
    ROW(asin(x)) ROW(acos(x)) ROW(atan(x)) ROW(atan2(x, y))
}

KERNEL exponential_f64(ARGS) {
    BEGIN
    ROW(exp(x)) ROW(exp2(x)) ROW(exp10(x)) ROW(expm1(x))
    ROW(log(x)) ROW(log2(x)) ROW(log10(x)) ROW(log1p(x)) ROW(logb(x))
    ROW(pow(x, y)) ROW(sinh(x)) ROW(cosh(x)) ROW(tanh(x))
    ROW(asinh(x)) ROW(acosh(x)) ROW(atanh(x))
}

KERNEL roots_f64(ARGS) {
    BEGIN
    ROW(sqrt(x)) ROW(rsqrt(x)) ROW(cbrt(x)) ROW(rcbrt(x)) ROW(hypot(x, y)) ROW(rhypot(x, y))
    ROW(norm3d(x, y, 1.5)) ROW(rnorm3d(x, y, 1.5)) ROW(norm4d(x, y, 2.f, 3.f)) ROW(rnorm4d(x, y, 2.f, 3.f))
    double p[3] = {x, y, x * 0.5};
    ROW(norm(3, p)) ROW(rnorm(3, p))
}

KERNEL special_f64(ARGS) {
    BEGIN
    ROW(erf(x)) ROW(erfc(x)) ROW(erfcx(x)) ROW(erfinv(x)) ROW(erfcinv(x))
    ROW(normcdf(x)) ROW(normcdfinv(x)) ROW(lgamma(x)) ROW(tgamma(x))
}

KERNEL bessel_f64(ARGS) {
    BEGIN
    ROW(j0(x)) ROW(j1(x)) ROW(y0(x)) ROW(y1(x)) ROW(cyl_bessel_i0(x)) ROW(cyl_bessel_i1(x))
    double m = fmin(fabs(x), 30.0);
    ROW(jn(3, m)) ROW(yn(2, m))
}

KERNEL exact_f64(ARGS) {
    BEGIN
    ROW(floor(x)) ROW(ceil(x)) ROW(trunc(x)) ROW(rint(x)) ROW(nearbyint(x)) ROW(round(x))
    ROW((double)lrint(x)) ROW((double)lround(x)) ROW((double)llrint(x)) ROW((double)llround(x))
    ROW(fmod(x, y)) ROW(remainder(x, y))
    int quotient;
    double rest = remquo(x, y, &quotient);
    ROW(rest) ROW((double)(quotient & 7))
    ROW(fdim(x, y)) ROW(fmax(x, y)) ROW(fmin(x, y)) ROW(fabs(x)) ROW(copysign(x, y))
    ROW(fma(x, y, 0.25)) ROW(nextafter(x, y)) ROW(x / y) ROW(1.0 / x) ROW(x * y + 1.0)
    int exponent;
    double fraction = frexp(x, &exponent);
    ROW(fraction) ROW((double)exponent) ROW(ldexp(x, (int)(i % 300) - 150)) ROW(scalbn(y, (int)(i % 60) - 30))
    ROW(scalbln(y, (long)(i % 40) - 20)) ROW((double)ilogb(x))
    double whole, part = modf(x, &whole);
    ROW(whole) ROW(part) ROW((double)signbit(x)) ROW((double)isfinite(x)) ROW((double)isnan(x)) ROW((double)isinf(x))
    ROW(__dsub_rn(__dmul_rn(x, x), y)) ROW(x > y ? x : y) ROW(x != y ? 1.f : 0.f) ROW(!(x < y) ? 1.f : 0.f)
}
