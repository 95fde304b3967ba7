#include "native.h"

void run(const float *restrict x, float *restrict y, int rows, int n) {
    for (int i = 0; i < rows; i++) {
        const float *p = x + i * n;
        float *q = y + i * n, most = -INFINITY, sum = 0.0f;
#pragma omp simd reduction(max : most)
        for (int j = 0; j < n; j++)
            most = most > p[j] ? most : p[j];
#pragma omp simd reduction(+ : sum)
        for (int j = 0; j < n; j++)
            sum += q[j] = expf(p[j] - most);
        for (int j = 0; j < n; j++)
            q[j] /= sum;
    }
}
