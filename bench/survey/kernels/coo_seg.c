// A sparse matrix in coordinates, sorted by rows, by a vector: a sum is kept until the row changes.
#include "native.h"

void run(const int *restrict row, const int *restrict column, const float *restrict value, const float *restrict x,
         float *restrict y, int entries, int rows) {
    memset(y, 0, rows * sizeof *y);
    for (int i = 0; i < entries;) {
        int r = row[i];
        float s0 = 0, s1 = 0;
        for (; i + 1 < entries && row[i + 1] == r; i += 2) {
            s0 += value[i] * x[column[i]];
            s1 += value[i + 1] * x[column[i + 1]];
        }
        if (i < entries && row[i] == r) {
            s0 += value[i] * x[column[i]];
            i++;
        }
        y[r] = s0 + s1;
    }
}
