// Small linear programs by the simplex method on a tableau.
#include "native.h"

void run(const float *restrict uses, const float *restrict stocks, const float *restrict profits,
         double *restrict amounts, double *restrict best, int (*restrict outcome)[2], int m, int n, int most,
         double epsilon, int count) {
    const int width = n + m + 1, stride = (width + 7) & ~7;
    double *t = aligned_alloc(64, (m + 1) * stride * sizeof *t);
    int basis[64];
    for (int id = 0; id < count; id++) {
        memset(t, 0, (m + 1) * stride * sizeof *t);
        for (int i = 0; i < m; i++) {
            for (int j = 0; j < n; j++)
                t[i * stride + j] = uses[((size_t)id * m + i) * n + j];
            t[i * stride + n + i] = 1;
            t[i * stride + width - 1] = stocks[id * m + i];
            basis[i] = n + i;
        }
        double *restrict goal = t + m * stride;
        for (int j = 0; j < n; j++)
            goal[j] = -profits[id * n + j];
        int end = 2, steps = 0;
        for (; steps < most; steps++) {
            int e = -1, l = -1;
            double least = -epsilon, ratio = 1e300;
            for (int j = 0; j < n + m; j++)
                if (goal[j] < least) {
                    least = goal[j];
                    e = j;
                }
            if (e < 0) {
                end = 0;
                break;
            }
            for (int i = 0; i < m; i++)
                if (t[i * stride + e] > epsilon) {
                    double r = t[i * stride + width - 1] / t[i * stride + e];
                    if (r < ratio) {
                        ratio = r;
                        l = i;
                    }
                }
            if (l < 0) {
                end = 1;
                break;
            }
            double *restrict row = t + l * stride, pivot = row[e];
            for (int j = 0; j < width; j++)
                row[j] /= pivot;
            basis[l] = e;
            for (int i = 0; i <= m; i++)
                if (i != l) {
                    double *restrict other = t + i * stride, f = other[e];
#pragma omp simd
                    for (int j = 0; j < stride; j++)
                        other[j] -= f * row[j];
                }
        }
        memset(amounts + id * n, 0, n * sizeof *amounts);
        for (int i = 0; i < m; i++)
            if (basis[i] < n)
                amounts[id * n + basis[i]] = t[i * stride + width - 1];
        best[id] = goal[width - 1];
        outcome[id][0] = end;
        outcome[id][1] = steps;
    }
    free(t);
}
