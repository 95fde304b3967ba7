#include "native.h"

void run(const int *restrict row_start, const int *restrict columns, const double *restrict values,
         const double *restrict rhs, double *restrict x, const int *restrict rows_by_colour, int rows, int sweeps) {
    for (int s = 0; s < sweeps; s++)
        for (int t = 0; t < rows; t++) {
            int row = rows_by_colour[t];
            double sum = rhs[row], diagonal = 1;
            for (int e = row_start[row]; e < row_start[row + 1]; e++) {
                int c = columns[e];
                if (c == row)
                    diagonal = values[e];
                else
                    sum -= values[e] * x[c];
            }
            x[row] = sum / diagonal;
        }
}
