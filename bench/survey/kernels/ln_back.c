#include "native.h"

void run(float *restrict dx, float *restrict dw, float *restrict db, const float *restrict dy, const float *restrict x,
         const float *restrict weight, const float *restrict mean, const float *restrict rstd, int rows, int c) {
    for (int r = 0; r < rows; r++) {
        const float *dyr = dy + r * c, *xr = x + r * c;
        float m = mean[r], s = rstd[r], a = 0, b = 0;
#pragma omp simd reduction(+ : a, b)
        for (int i = 0; i < c; i++) {
            float d = weight[i] * dyr[i];
            a += d;
            b += d * (xr[i] - m) * s;
        }
        a /= c;
        b /= c;
#pragma omp simd
        for (int i = 0; i < c; i++) {
            float g = dyr[i], norm = (xr[i] - m) * s;
            db[i] += g;
            dw[i] += norm * g;
            dx[r * c + i] += (weight[i] * g - a - norm * b) * s;
        }
    }
}
