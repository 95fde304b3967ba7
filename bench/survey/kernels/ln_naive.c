#include "native.h"

void run(float *restrict out, const float *restrict x, const float *restrict weight, const float *restrict bias, int rows, int c) {
    for (int i = 0; i < rows; i++) {
        const float *r = x + i * c;
        float *o = out + i * c, m = 0, v = 0;
#pragma omp simd reduction(+ : m)
        for (int k = 0; k < c; k++)
            m += r[k];
        m = m / c;
#pragma omp simd reduction(+ : v)
        for (int k = 0; k < c; k++)
            v += (r[k] - m) * (r[k] - m);
        float s = 1.0f / sqrtf(v / c + 1e-5f);
#pragma omp simd
        for (int k = 0; k < c; k++)
            o[k] = s * (r[k] - m) * weight[k] + bias[k];
    }
}
