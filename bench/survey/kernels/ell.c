#include "native.h"

void run(const int *restrict col, const float *restrict val, const float *restrict x, float *restrict y,
         int rows, int k) {
    memset(y, 0, 4 * rows);
    for (int j = 0; j < k; j++) {
        const int *c = col + (long)j * rows;
        const float *v = val + (long)j * rows;
#pragma omp simd
        for (int r = 0; r < rows; r++) {
            int q = c[r];
            if (q >= 0)
                y[r] += v[r] * x[q];
        }
    }
}
