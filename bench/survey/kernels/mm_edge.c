#include "native.h"

void run(const float *restrict a, const float *restrict b, float *restrict c, int m, int n, int k) {
    for (int i = 0; i < m; i++) {
        memset(c + i * n, 0, n * sizeof(float));
        for (int l = 0; l < k; l++) {
            float x = a[i * k + l];
#pragma omp simd
            for (int j = 0; j < n; j++)
                c[i * n + j] += x * b[l * n + j];
        }
    }
}
