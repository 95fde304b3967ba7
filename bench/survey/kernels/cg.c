#include "native.h"

void run(double *restrict x, double *restrict r, const double *restrict p, double *restrict q,
         double *restrict dot, double *restrict rn, double rr, int n) {
    double d = 0;
    q[0] = 4 * p[0] - p[1];
    d = p[0] * q[0];
#pragma omp simd reduction(+ : d)
    for (int i = 1; i < n - 1; i++) {
        double t = 4 * p[i] - p[i - 1] - p[i + 1];
        q[i] = t;
        d += p[i] * t;
    }
    q[n - 1] = 4 * p[n - 1] - p[n - 2];
    d += p[n - 1] * q[n - 1];
    dot[0] = d;
    double al = rr / d, v = 0;
#pragma omp simd reduction(+ : v)
    for (int i = 0; i < n; i++) {
        x[i] += al * p[i];
        double t = r[i] - al * q[i];
        r[i] = t;
        v += t * t;
    }
    rn[0] = v;
}
