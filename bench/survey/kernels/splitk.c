// relu(A B^T + bias) of halfs, sums in float: B turned around, tiles of 4 x 64 in registers.
#include "native.h"
enum { ROWS = 4, COLS = 64 };

void run(const _Float16 *restrict a, const _Float16 *restrict b, const float *restrict bias, float *restrict c,
         int m, int n, int k) {
    float *restrict wide = malloc(sizeof(float) * m * k), *restrict turned = malloc(sizeof(float) * n * k);
    for (size_t i = 0; i < (size_t)m * k; i++)
        wide[i] = a[i];
    // Strips of COLS columns, a strip's row k together.
    for (int j = 0; j < n; j++)
        for (int p = 0; p < k; p++)
            turned[((size_t)(j / COLS) * k + p) * COLS + j % COLS] = b[(size_t)j * k + p];
    for (int j0 = 0; j0 < n; j0 += COLS) {
        const float *strip = turned + (size_t)j0 * k;
        for (int i0 = 0; i0 < m; i0 += ROWS) {
            float sum[ROWS][COLS] = {0};
            for (int p = 0; p < k; p++)
                for (int i = 0; i < ROWS; i++) {
                    float x = wide[(size_t)(i0 + i) * k + p];
#pragma omp simd
                    for (int j = 0; j < COLS; j++)
                        sum[i][j] += x * strip[(size_t)p * COLS + j];
                }
            for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < COLS; j++) {
                    float value = sum[i][j] + bias[j0 + j];
                    c[(size_t)(i0 + i) * n + j0 + j] = value > 0 ? value : 0;
                }
        }
    }
    free(wide);
    free(turned);
}
