// y = A x for a sparse matrix by rows, a thread for each row.
#include "dialect.h"

KERNEL void spmv(GLOBAL const int *starts, GLOBAL const int *columns, GLOBAL const REAL *values,
                 GLOBAL const REAL *x, GLOBAL REAL *y, int rows)
{
    int row = INDEX_X;
    if (row >= rows)
        return;
    REAL sum = 0;
    for (int i = starts[row]; i < starts[row + 1]; i++)
        sum += values[i] * x[columns[i]];
    y[row] = sum;
}
