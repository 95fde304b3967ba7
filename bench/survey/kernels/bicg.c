#include "native.h"

void run(const float *restrict a, const float *restrict p, const float *restrict r, float *restrict q, float *restrict s, int nx,
         int ny) {
    memset(s, 0, ny * sizeof(float));
    for (int i = 0; i < nx; i++) {
        float sum = 0, x = r[i];
#pragma omp simd reduction(+ : sum)
        for (int j = 0; j < ny; j++) {
            sum += a[i * ny + j] * p[j];
            s[j] += a[i * ny + j] * x;
        }
        q[i] = sum;
    }
}
