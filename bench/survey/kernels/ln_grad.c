#include "native.h"

void run(const float *restrict dy, const float *restrict x, const float *restrict mean, const float *restrict rstd,
         const float *restrict gamma, float *restrict dx, float *restrict dgamma, float *restrict dbeta,
         int m, int n) {
    memset(dgamma, 0, n * sizeof(float));
    memset(dbeta, 0, n * sizeof(float));
    for (int row = 0; row < m; row++) {
        const float *xr = x + (long)row * n, *dr = dy + (long)row * n;
        float mu = mean[row], inv = rstd[row], a = 0, b = 0, scale = 1.0f / n;
#pragma omp simd reduction(+ : a, b)
        for (int j = 0; j < n; j++) {
            float g = dr[j] * gamma[j], norm = (xr[j] - mu) * inv;
            a += g;
            b += g * norm;
            dgamma[j] += dr[j] * norm;
            dbeta[j] += dr[j];
        }
        float *to = dx + (long)row * n;
#pragma omp simd
        for (int j = 0; j < n; j++)
            to[j] = inv * (dr[j] * gamma[j] - scale * (a + (xr[j] - mu) * inv * b));
    }
}
