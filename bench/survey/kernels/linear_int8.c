#include "native.h"

void run(const signed char *restrict x, const signed char *restrict w, const float *restrict x_scale,
         const float *restrict w_scale, const float *restrict bias, float *restrict y, int m, int n, int k) {
    for (int row = 0; row < m; row++)
        for (int col = 0; col < n; col++) {
            const signed char *a = x + row * k, *b = w + col * k;
            int acc = 0;
#pragma omp simd reduction(+ : acc)
            for (int i = 0; i < k; i++)
                acc += a[i] * b[i];
            y[row * n + col] = acc * x_scale[row] * w_scale[col] + bias[col];
        }
}
