// Log-cumsum-exp along rows, 16 of them side by side; running maxima with their places down columns.
#include "native.h"

__attribute__((simd("notinbranch"))) extern float logf(float);

enum { W = 16, PART = 64 };

void run(const float *restrict src, float *restrict sums, float *restrict values, int64_t *restrict places, int rows,
         int cols, int outer, int inner) {
    float x[PART][W];
    for (int r = 0; r < rows; r += W) {
        int n = MIN(W, rows - r);
        float total[W];
        for (int k = 0; k < W; k++)
            total[k] = -INFINITY;
        memset(x, 0, sizeof x);
        for (int c = 0; c < cols; c += PART) {
            int m = MIN(PART, cols - c);
            for (int k = 0; k < n; k++)
                for (int i = 0; i < m; i++)
                    x[i][k] = src[(size_t)(r + k) * cols + c + i];
            for (int i = 0; i < m; i++) {
#pragma omp simd
                for (int k = 0; k < W; k++) {
                    float a = x[i][k], b = total[k], lo = a < b ? a : b, hi = a < b ? b : a;
                    total[k] = x[i][k] = hi + logf(1 + expf(lo - hi));
                }
            }
            for (int k = 0; k < n; k++)
                for (int i = 0; i < m; i++)
                    sums[(size_t)(r + k) * cols + c + i] = x[i][k];
        }
    }
    int length = rows / outer * cols / inner;  // the same numbers as [outer][length][inner]
    for (int o = 0; o < outer; o++)
        for (int c = 0; c < length; c++) {
            size_t at = ((size_t)o * length + c) * inner;
            for (int i = 0; i < inner; i++) {
                float v = src[at + i], old = c ? values[at - inner + i] : -INFINITY;
                int better = v >= old;
                values[at + i] = better ? v : old;
                places[at + i] = better ? c : places[at - inner + i];
            }
        }
}
