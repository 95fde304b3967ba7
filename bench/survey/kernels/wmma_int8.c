// Products of matrices of bytes (the second by columns), a bias, a scale and bytes again.
#include "native.h"

void run(const int8_t *restrict a, const int8_t *restrict b, const int *restrict bias, int8_t *restrict c, int m, int n,
         int k, int multiplier, int shift) {
    short *wide = malloc((size_t)n * k * sizeof(short)), *line = malloc(k * sizeof(short));
    for (int i = 0; i < n * k; i++)
        wide[i] = b[i];
    for (int i = 0; i < m; i++) {
        for (int p = 0; p < k; p++)
            line[p] = a[(size_t)i * k + p];
        for (int j = 0; j < n; j += 4) {
            int s0 = 0, s1 = 0, s2 = 0, s3 = 0;
            const short *w = wide + (size_t)j * k;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
            for (int p = 0; p < k; p++) {
                s0 += line[p] * w[p];
                s1 += line[p] * w[k + p];
                s2 += line[p] * w[2 * k + p];
                s3 += line[p] * w[3 * k + p];
            }
            int sums[4] = {s0, s1, s2, s3};
            for (int q = 0; q < 4; q++) {
                int64_t v = (int64_t)(sums[q] + bias[j + q]) * multiplier;
                int r = (v + (1ll << (shift - 1))) >> shift;
                c[(size_t)i * n + j + q] = r < -128 ? -128 : r > 127 ? 127 : r;
            }
        }
    }
    free(wide);
    free(line);
}
