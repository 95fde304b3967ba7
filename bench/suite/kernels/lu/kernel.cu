// One step of LU decomposition without pivoting: a column divided, the rest of the matrix updated.
#include "dialect.h"

KERNEL void lu_column(GLOBAL REAL *a, int n, int k)
{
    int row = k + 1 + INDEX_X;
    if (row < n)
        a[row * n + k] /= a[k * n + k];
}

KERNEL void lu_update(GLOBAL REAL *a, int n, int k)
{
    int column = k + 1 + INDEX_X, row = k + 1 + INDEX_Y;
    if (row < n && column < n)
        a[row * n + column] -= a[row * n + k] * a[k * n + column];
}
