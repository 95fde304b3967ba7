#include "native.h"

void run(const float *restrict x, float *restrict mean, float *restrict var, int n, int c, int hw) {
    for (int ch = 0; ch < c; ch++) {
        float s = 0, q = 0;
        for (int i = 0; i < n; i++) {
            const float *p = x + (i * c + ch) * hw;
#pragma omp simd reduction(+ : s, q)
            for (int k = 0; k < hw; k++) {
                s += p[k];
                q += p[k] * p[k];
            }
        }
        mean[ch] = s / (n * hw);
        var[ch] = q / (n * hw) - mean[ch] * mean[ch];
    }
}
