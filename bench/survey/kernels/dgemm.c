#include "native.h"

void run(const double *restrict a, const double *restrict b, double *restrict c, int n) {
    memset(c, 0, 8l * n * n);
    for (int kk = 0; kk < n; kk += 64)
        for (int i = 0; i < n; i++)
            for (int k = kk; k < kk + 64; k++) {
                double v = a[i * n + k];
                const double *p = b + k * n;
                double *o = c + i * n;
                for (int j = 0; j < n; j++)
                    o[j] += v * p[j];
            }
}
