#include "native.h"

void run(const float *restrict x, const float *restrict gamma, const float *restrict beta, float *restrict y,
         int channels, int groups, int area, float eps, int n) {
    int each = channels / groups;
    long count = (long)each * area;
    for (int b = 0; b < n; b++)
        for (int g = 0; g < groups; g++) {
            const float *in = x + ((long)b * channels + g * each) * area;
            float *out = y + ((long)b * channels + g * each) * area, sum = 0, square = 0;
#pragma omp simd reduction(+ : sum, square)
            for (long i = 0; i < count; i++) {
                sum += in[i];
                square += in[i] * in[i];
            }
            float mean = sum / count, inv = 1 / sqrtf(square / count - mean * mean + eps);
            for (int c = 0; c < each; c++) {
                float f = gamma[g * each + c], s = beta[g * each + c];
#pragma omp simd
                for (int i = 0; i < area; i++)
                    out[(long)c * area + i] = (in[(long)c * area + i] - mean) * inv * f + s;
            }
        }
}
