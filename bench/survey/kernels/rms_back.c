// RMS norm and its backward pass, row by row.
#include "native.h"

void run(const float *restrict x, const float *restrict dy, const float *restrict weight, float *restrict y,
         float *restrict rstd, float *restrict dx, float *restrict dw, int rows, int hidden, float eps) {
    memset(dw, 0, hidden * sizeof(float));
    for (int r = 0; r < rows; r++) {
        const float *v = x + (size_t)r * hidden, *g = dy + (size_t)r * hidden;
        float *out = y + (size_t)r * hidden, *d = dx + (size_t)r * hidden, square = 0, dot = 0;
#pragma omp simd reduction(+ : square, dot)
        for (int i = 0; i < hidden; i++) {
            square += v[i] * v[i];
            dot += g[i] * weight[i] * v[i];
        }
        float s = 1 / sqrtf(square / hidden + eps), k = dot * s * s * s / hidden;
        rstd[r] = s;
#pragma omp simd
        for (int i = 0; i < hidden; i++) {
            float scaled = v[i] * s;
            out[i] = scaled * weight[i];
            d[i] = g[i] * weight[i] * s - v[i] * k;
            dw[i] += g[i] * scaled;
        }
    }
}
