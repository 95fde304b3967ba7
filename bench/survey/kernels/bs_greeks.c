// European options by Black and Scholes in double precision, calls and puts mixed: prices and five Greeks.
#include "native.h"

#if defined(__x86_64__) && defined(__GLIBC__)
__attribute__((simd("notinbranch"))) extern double exp(double);
__attribute__((simd("notinbranch"))) extern double log(double);
__attribute__((simd("notinbranch"))) extern double erfc(double);
#endif

typedef struct {
    double spot, strike, maturity, volatility;
} Option;

void run(const Option *restrict options, const uchar *restrict is_call, double *restrict price, double *restrict delta,
         double *restrict gamma, double *restrict vega, double *restrict theta, double *restrict rho, int n, double r,
         double q) {
#pragma omp simd
    for (int i = 0; i < n; i++) {
        double s = options[i].spot, k = options[i].strike, t = options[i].maturity, v = options[i].volatility;
        double sign = is_call[i] ? 1 : -1, root = sqrt(t), sd = v * root;
        double d1 = (log(s / k) + (r - q + 0.5 * v * v) * t) / sd, d2 = d1 - sd;
        double dr = exp(-r * t), dq = exp(-q * t);
        double n1 = 0.5 * erfc(-sign * d1 * 0.70710678118654752440);
        double n2 = 0.5 * erfc(-sign * d2 * 0.70710678118654752440);
        double density = 0.39894228040143267794 * exp(-0.5 * d1 * d1), forward = s * dq, discounted = k * dr;
        price[i] = sign * (forward * n1 - discounted * n2);
        delta[i] = sign * dq * n1;
        gamma[i] = dq * density / (s * sd);
        vega[i] = forward * density * root;
        theta[i] = -forward * density * v / (2 * root) + sign * (q * forward * n1 - r * discounted * n2);
        rho[i] = sign * t * discounted * n2;
    }
}
