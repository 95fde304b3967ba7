#include "native.h"

// Hyperbolic terms of a compressible flow: derivatives of eighth order, rows as vectors.
enum { G = 4 };
#define D(e, s) (0.8 * (e(s) - e(-(s))) - 0.2 * (e(2 * (s)) - e(-2 * (s))) + \
                 0.038095238095238 * (e(3 * (s)) - e(-3 * (s))) - 0.003571428571429 * (e(4 * (s)) - e(-4 * (s))))

static inline double d8(const double *restrict p, long s) {
#define E(o) p[o]
    return D(E, s);
#undef E
}

static inline double d8p(const double *restrict p, const double *restrict q, long s) {
#define E(o) (p[o] * q[o])
    return D(E, s);
#undef E
}

void run(double *restrict f0, double *restrict f1, double *restrict f2, double *restrict f3, double *restrict f4,
         const double *restrict c1, const double *restrict c2, const double *restrict c3, const double *restrict c4,
         const double *restrict q1, const double *restrict q2, const double *restrict q3, const double *restrict q4,
         double dxinv, double dyinv, double dzinv, int l, int m, int n) {
    long y = l, z = (long)l * m;
    for (int k = G; k < n - G; k++)
        for (int j = G; j < m - G; j++) {
            long row = k * z + j * y;
#pragma omp simd
            for (long c = row + G; c < row + l - G; c++) {
                f0[c] = -d8(c1 + c, 1) * dxinv - d8(c2 + c, y) * dyinv - d8(c3 + c, z) * dzinv;
                f1[c] = -(d8p(c1 + c, q1 + c, 1) + d8(q4 + c, 1)) * dxinv - d8p(c1 + c, q2 + c, y) * dyinv -
                        d8p(c1 + c, q3 + c, z) * dzinv;
            }
#pragma omp simd
            for (long c = row + G; c < row + l - G; c++) {
                f2[c] = -d8p(c2 + c, q1 + c, 1) * dxinv - (d8p(c2 + c, q2 + c, y) + d8(q4 + c, y)) * dyinv -
                        d8p(c2 + c, q3 + c, z) * dzinv;
                f3[c] = -d8p(c3 + c, q1 + c, 1) * dxinv - d8p(c3 + c, q2 + c, y) * dyinv -
                        (d8p(c3 + c, q3 + c, z) + d8(q4 + c, z)) * dzinv;
            }
#pragma omp simd
            for (long c = row + G; c < row + l - G; c++)
                f4[c] = -(d8p(c4 + c, q1 + c, 1) + d8p(q4 + c, q1 + c, 1)) * dxinv -
                        (d8p(c4 + c, q2 + c, y) + d8p(q4 + c, q2 + c, y)) * dyinv -
                        (d8p(c4 + c, q3 + c, z) + d8p(q4 + c, q3 + c, z)) * dzinv;
        }
}
