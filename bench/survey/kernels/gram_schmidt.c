#include "native.h"

void run(double *restrict a, double *restrict r, int m, int n) {
    for (int k = 0; k < n; k++) {
        double *q = a + (size_t)k * m, sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < m; i++)
            sum += q[i] * q[i];
        double length = sqrt(sum);
        r[(size_t)k * n + k] = length;
#pragma omp simd
        for (int i = 0; i < m; i++)
            q[i] /= length;
        for (int j = k + 1; j < n; j++) {
            double *column = a + (size_t)j * m, dot = 0;
#pragma omp simd reduction(+ : dot)
            for (int i = 0; i < m; i++)
                dot += q[i] * column[i];
            r[(size_t)k * n + j] = dot;
#pragma omp simd
            for (int i = 0; i < m; i++)
                column[i] -= dot * q[i];
        }
    }
}
