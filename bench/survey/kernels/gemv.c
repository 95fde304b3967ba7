#include "native.h"

void run(const float *restrict a, const float *restrict x, float *restrict y, int m, int n) {
    for (int i = 0; i < m; i++) {
        float s = 0;
        const float *p = a + (long)i * n;
#pragma omp simd reduction(+ : s)
        for (int j = 0; j < n; j++)
            s += p[j] * x[j];
        y[i] = s;
    }
}
