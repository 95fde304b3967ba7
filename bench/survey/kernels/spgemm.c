// The product of two sparse matrices by Gustavson's method: a row's sums in a whole row of numbers, and a bit for each
// column that it has, which are then read in order.
#include "native.h"

void run(const int *restrict a_start, const int *restrict a_cols, const double *restrict a_values,
         const int *restrict b_start, const int *restrict b_cols, const double *restrict b_values,
         int *restrict row_count, int *restrict c_start, int *restrict c_cols, double *restrict c_values, int rows,
         int cols) {
    int words = (cols + 63) / 64, at = 0;
    double *sums = calloc(cols, sizeof *sums);
    uint64_t *bits = calloc(words, sizeof *bits);
    for (int row = 0; row < rows; row++) {
        c_start[row] = at;
        for (int e = a_start[row]; e < a_start[row + 1]; e++) {
            int k = a_cols[e];
            double a = a_values[e];
            for (int f = b_start[k]; f < b_start[k + 1]; f++) {
                int c = b_cols[f];
                bits[c / 64] |= 1ull << c % 64;
                sums[c] += a * b_values[f];
            }
        }
        for (int w = 0; w < words; w++) {
            for (uint64_t left = bits[w]; left; left &= left - 1) {
                int c = w * 64 + __builtin_ctzll(left);
                c_cols[at] = c;
                c_values[at++] = sums[c];
                sums[c] = 0;
            }
            bits[w] = 0;
        }
        row_count[row] = at - c_start[row];
    }
    c_start[rows] = at;
    free(sums);
    free(bits);
}
