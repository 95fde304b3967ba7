// Cholesky's factor of a matrix by panels of 32 columns, in place, the lower half.
#include "native.h"

enum { NB = 32, R = 4 };

void run(double *restrict a, int *restrict info, int n) {
    double *restrict pt = malloc((size_t)NB * n * sizeof *pt);  // the panel, its columns as rows
    for (int k0 = 0; k0 < n; k0 += NB) {
        int k1 = MIN(n, k0 + NB);
        for (int j = k0; j < k1; j++) {
            double *row = a + (long)j * n;
            for (int c = k0; c < j; c++) {
                double s = row[c];
                for (int k = k0; k < c; k++)
                    s -= row[k] * a[(long)c * n + k];
                row[c] = s / a[(long)c * n + c];
            }
            double d = row[j];
            for (int k = k0; k < j; k++)
                d -= row[k] * row[k];
            if (d <= 0) {
                *info = j + 1;
                free(pt);
                return;
            }
            row[j] = sqrt(d);
        }
        int rest = n - k1;
        for (int r = 0; r < rest; r++)
            for (int j = 0; j < k1 - k0; j++)
                pt[(long)j * rest + r] = a[(long)(k1 + r) * n + k0 + j];
        for (int j = 0; j < k1 - k0 && rest; j++) {
            double *restrict x = pt + (long)j * rest;
            for (int c = 0; c < j; c++) {
                double l = a[(long)(k0 + j) * n + k0 + c];
                const double *y = pt + (long)c * rest;
#pragma omp simd
                for (int r = 0; r < rest; r++)
                    x[r] -= l * y[r];
            }
            double inv = 1 / a[(long)(k0 + j) * n + k0 + j];
#pragma omp simd
            for (int r = 0; r < rest; r++)
                x[r] *= inv;
        }
        for (int r = 0; r < rest; r++)
            for (int j = 0; j < k1 - k0; j++)
                a[(long)(k1 + r) * n + k0 + j] = pt[(long)j * rest + r];
        for (int r0 = 0; r0 < rest; r0 += R)
            for (int c0 = 0; c0 <= MIN(r0 + R, rest) - 1; c0 += 16) {
                int rows = MIN(R, rest - r0);
                if (rows == R && c0 + 16 <= r0 + 1) {
                    double s[R][16] = {0};
                    for (int k = 0; k < NB; k++) {
                        const double *q = pt + (long)k * rest;
                        for (int i = 0; i < R; i++)
#pragma omp simd
                            for (int c = 0; c < 16; c++)
                                s[i][c] += q[r0 + i] * q[c0 + c];
                    }
                    for (int i = 0; i < R; i++)
                        for (int c = 0; c < 16; c++)
                            a[(long)(k1 + r0 + i) * n + k1 + c0 + c] -= s[i][c];
                } else {
                    for (int i = r0; i < r0 + rows; i++)
                        for (int c = c0; c < MIN(c0 + 16, i + 1); c++) {
                            const double *p = a + (long)(k1 + i) * n + k0, *q = a + (long)(k1 + c) * n + k0;
                            double s = 0;
#pragma omp simd reduction(+ : s)
                            for (int k = 0; k < NB; k++)
                                s += p[k] * q[k];
                            a[(long)(k1 + i) * n + k1 + c] -= s;
                        }
                }
            }
    }
    free(pt);
}
