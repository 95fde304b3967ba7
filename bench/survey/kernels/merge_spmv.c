// y = A x for a CSR matrix
#include "native.h"

void run(const int *restrict row_start, const int *restrict columns, const double *restrict values,
         const double *restrict x, double *restrict y, int rows) {
    for (int r = 0; r < rows; r++) {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int e = row_start[r]; e < row_start[r + 1]; e++)
            sum += values[e] * x[columns[e]];
        y[r] = sum;
    }
}
