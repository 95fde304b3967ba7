// A dot product in double-double arithmetic: sums side by side.
#include "native.h"
#pragma GCC optimize("fp-contract=off")
enum { W = 32 };

static inline void add(double *hi, double *lo, double bh, double bl) {
    double ah = *hi, al = *lo;
    double s = ah + bh, bb = s - ah, e = (ah - (s - bb)) + (bh - bb);
    double t = al + bl, cc = t - al, f = (al - (t - cc)) + (bl - cc);
    e += t;
    double h = s + e;
    e = e - (h - s);
    e += f;
    double r = h + e;
    *lo = e - (r - h);
    *hi = r;
}

void run(const double *restrict x, const double *restrict y, double *restrict result, long n) {
    double hi[W] = {0}, lo[W] = {0};
    long i = 0;
    for (; i + W <= n; i += W)
#pragma omp simd
        for (int k = 0; k < W; k++) {
            double p = x[i + k] * y[i + k];
            add(hi + k, lo + k, p, __builtin_fma(x[i + k], y[i + k], -p));
        }
    for (; i < n; i++) {
        double p = x[i] * y[i];
        add(hi, lo, p, __builtin_fma(x[i], y[i], -p));
    }
    for (int k = 1; k < W; k++)
        add(hi, lo, hi[k], lo[k]);
    result[0] = hi[0];
    result[1] = lo[0];
}
