// LU with partial pivoting of many small matrices, by rows, each with the solution of a system.
#include "native.h"

void run(double *restrict matrices, double *restrict rhs, int *restrict pivots, int *restrict info, int n,
         int count) {
    for (int which = 0; which < count; which++) {
        double *a = matrices + (long)which * n * n, *x = rhs + (long)which * n;
        int *pivot = pivots + (long)which * n, failed = 0;
        for (int k = 0; k < n; k++) {
            int p = k;
            double most = fabs(a[k * n + k]);
            for (int i = k + 1; i < n; i++)
                if (fabs(a[i * n + k]) > most)
                    most = fabs(a[i * n + k]), p = i;
            pivot[k] = p;
            if (most == 0) {
                failed = failed ? failed : k + 1;
                continue;
            }
            double *restrict top = a + k * n;
            if (p != k) {
                double *restrict other = a + p * n;
                for (int j = 0; j < n; j++) {
                    double swapped = top[j];
                    top[j] = other[j], other[j] = swapped;
                }
                double swapped = x[k];
                x[k] = x[p], x[p] = swapped;
            }
            for (int i = k + 1; i < n; i++) {
                double *restrict row = a + i * n;
                double f = row[k] /= top[k];
#pragma omp simd
                for (int j = k + 1; j < n; j++)
                    row[j] -= f * top[j];
            }
        }
        if (!failed) {
            for (int i = 1; i < n; i++) {
                double sum = 0;
#pragma omp simd reduction(+ : sum)
                for (int k = 0; k < i; k++)
                    sum += a[i * n + k] * x[k];
                x[i] -= sum;
            }
            for (int i = n - 1; i >= 0; i--) {
                double sum = 0;
#pragma omp simd reduction(+ : sum)
                for (int k = i + 1; k < n; k++)
                    sum += a[i * n + k] * x[k];
                x[i] = (x[i] - sum) / a[i * n + i];
            }
        }
        info[which] = failed;
    }
}
