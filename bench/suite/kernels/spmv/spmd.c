// The lanes share a row: gathers of x, one sum at the row's end.
#include "native.h"

void run(const int *restrict starts, const int *restrict columns, const REAL *restrict values,
         const REAL *restrict x, REAL *restrict y, int rows)
{
    for (int row = 0; row < rows; row++) {
        REAL sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int i = starts[row]; i < starts[row + 1]; i++)
            sum += values[i] * x[columns[i]];
        y[row] = sum;
    }
}
