// relu(A B + bias), blocks of 4 x 64 kept in registers
#include "native.h"
enum { ROWS = 4, COLS = 64 };
typedef float Vector __attribute__((vector_size(64), aligned(4), may_alias));

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
            Vector sum[ROWS][COLS / 16] = {0};
            for (int t = 0; t < k; t++) {
                const Vector *row = (const Vector *)(right + (size_t)t * n);
#pragma GCC unroll 4
                for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 4
                    for (int j = 0; j < COLS / 16; j++)
                        sum[r][j] += left[(size_t)r * k + t] * row[j];
            }
            for (int r = 0; r < ROWS; r++) {
                float values[COLS];
                memcpy(values, sum[r], sizeof values);
                for (int j = 0; j < COLS; j++)
                    out[(size_t)r * n + j] = MAX(values[j] + bias[j0 + j], 0.0f);
            }
        }
}
