// y = a * x + y.
#include "dialect.h"

KERNEL void saxpy(GLOBAL const REAL *x, GLOBAL REAL *y, int n, float a)
{
    int i = INDEX_X;
    if (i < n)
        y[i] = MULTIPLY_ADD(MAKE_REAL(a), x[i], y[i]);
}
