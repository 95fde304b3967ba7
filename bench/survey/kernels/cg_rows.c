#include "native.h"

void run(const int *restrict starts, const int *restrict columns, const float *restrict values,
         const float *restrict x, float *restrict y, int rows) {
    for (int r = 0; r < rows; r++) {
        float s = 0;
#pragma omp simd reduction(+ : s)
        for (int k = starts[r]; k < starts[r + 1]; k++)
            s += values[k] * x[columns[k]];
        y[r] = s;
    }
}
