#include "native.h"

void run(const float *restrict x, const float *restrict g, const float *restrict b, float *restrict y,
         int rows, int n, float eps) {
    for (int r = 0; r < rows; r++) {
        const float *p = x + (long)r * n;
        float *o = y + (long)r * n;
        float a = 0, q = 0;
#pragma omp simd reduction(+ : a, q)
        for (int i = 0; i < n; i++) {
            a += p[i];
            q += p[i] * p[i];
        }
        float m = a / n, inv = 1 / sqrtf(q / n - m * m + eps);
        for (int i = 0; i < n; i++)
            o[i] = (p[i] - m) * inv * g[i] + b[i];
    }
}
