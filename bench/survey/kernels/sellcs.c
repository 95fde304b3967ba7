// y = A x + b y with A in SELL-32-256: the rows of a slice side by side.
#include "native.h"

enum { C = 32 };

void run(const int64_t *restrict slice_start, const int *restrict slice_width, const int *restrict column,
         const double *restrict value, const int *restrict row_of, const double *restrict x, double *restrict y,
         int slices, double beta) {
    for (int s = 0; s < slices; s++) {
        const int *col = column + slice_start[s];
        const double *val = value + slice_start[s];
        double sum[C] = {0};
        for (int j = 0; j < slice_width[s]; j++, col += C, val += C)
#pragma omp simd
            for (int l = 0; l < C; l++)
                sum[l] += val[l] * x[col[l]];
        for (int l = 0; l < C; l++) {
            int row = row_of[s * C + l];
            if (row >= 0)
                y[row] = sum[l] + beta * y[row];
        }
    }
}
