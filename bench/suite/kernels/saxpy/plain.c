#include "native.h"

void run(const REAL *restrict x, REAL *restrict y, int n, float a)
{
    for (int i = 0; i < n; i++)
        y[i] = (REAL)a * x[i] + y[i];
}
