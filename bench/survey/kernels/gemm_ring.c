// relu(A B + bias), blocks of 4 x 64 kept in registers
#include "native.h"
enum { ROWS = 4, COLS = 64 };

static void part(const float *restrict a, const float *restrict b, const float *restrict bias, float *restrict c,
                 int rows, int cols, int n, int k) {
    for (int i = 0; i < rows; i++) {
        float sum[COLS] = {0};
        for (int t = 0; t < k; t++)
            for (int j = 0; j < cols; j++)
                sum[j] += a[(size_t)i * k + t] * b[(size_t)t * n + j];
        for (int j = 0; j < cols; j++)
            c[(size_t)i * n + j] = MAX(sum[j] + bias[j], 0.0f);
    }
}

void run(const float *restrict a, const float *restrict b, const float *restrict bias, float *restrict c, int m, int n,
         int k) {
    for (int j0 = 0; j0 < n; j0 += COLS)
        for (int i0 = 0; i0 < m; i0 += ROWS) {
            const float *left = a + (size_t)i0 * k, *right = b + j0;
            float *out = c + (size_t)i0 * n + j0;
            if (i0 + ROWS > m || j0 + COLS > n) {
                part(left, right, bias + j0, out, MIN(ROWS, m - i0), MIN(COLS, n - j0), n, k);
                continue;
            }
            float s0[COLS] = {0}, s1[COLS] = {0}, s2[COLS] = {0}, s3[COLS] = {0};
            for (int t = 0; t < k; t++) {
                const float *restrict row = right + (size_t)t * n;
                float a0 = left[t], a1 = left[k + t], a2 = left[2 * k + t], a3 = left[3 * k + t];
#pragma omp simd
                for (int j = 0; j < COLS; j++) {
                    s0[j] += a0 * row[j];
                    s1[j] += a1 * row[j];
                    s2[j] += a2 * row[j];
                    s3[j] += a3 * row[j];
                }
            }
            for (int j = 0; j < COLS; j++) {
                out[j] = MAX(s0[j] + bias[j0 + j], 0.0f);
                out[(size_t)n + j] = MAX(s1[j] + bias[j0 + j], 0.0f);
                out[2 * (size_t)n + j] = MAX(s2[j] + bias[j0 + j], 0.0f);
                out[3 * (size_t)n + j] = MAX(s3[j] + bias[j0 + j], 0.0f);
            }
        }
}
