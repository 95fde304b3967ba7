// Determinants of small matrices by elimination with pivots, in place: rows in vectors.
#include "native.h"

void run(double *restrict matrices, double *restrict det, int n, int count) {
    for (int m = 0; m < count; m++) {
        double *a = matrices + (long)m * n * n, d = 1;
        for (int k = 0; k < n; k++) {
            int pivot = k;
            double largest = fabs(a[k * n + k]);
            for (int r = k + 1; r < n; r++)
                if (fabs(a[r * n + k]) > largest)
                    largest = fabs(a[r * n + k]), pivot = r;
            double *restrict top = a + k * n;
            if (pivot != k) {
                double *restrict other = a + pivot * n;
                d = -d;
                for (int c = 0; c < n; c++) {
                    double t = top[c];
                    top[c] = other[c], other[c] = t;
                }
            }
            for (int r = k + 1; r < n; r++) {
                double *restrict row = a + r * n;
                double factor = row[k] / top[k];
#pragma omp simd
                for (int c = k; c < n; c++)
                    row[c] -= factor * top[c];
            }
            d *= top[k];
        }
        det[m] = d;
    }
}
