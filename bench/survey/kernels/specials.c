#include "native.h"

#if defined(__x86_64__) && defined(__GLIBC__)
__attribute__((simd("notinbranch"))) extern double pow(double, double);
__attribute__((simd("notinbranch"))) extern double sin(double);
#if __GLIBC_PREREQ(2, 35)
__attribute__((simd("notinbranch"))) extern double erf(double);
#endif
#endif

void run(const double *restrict x, const double *restrict shape, const double *restrict phase, double *restrict out,
         int n, double mu, double sigma, double exponent) {
    double scale = 1 / (sigma * sqrt(2.0));
    // no vectors of lgamma in glibc
    for (int i = 0; i < n; i++) {
        int sign;
        out[i] = lgamma_r(shape[i] + 0.5, &sign);
    }
#pragma omp simd
    for (int i = 0; i < n; i++) {
        double below = 0.5 * (1 + erf((x[i] - mu) * scale));
        double power = pow(1 + x[i] * x[i], exponent * shape[i]);
        out[i] += below * power + 0.25 * sin(phase[i]);
    }
}
