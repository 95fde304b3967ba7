#include "native.h"

void run(const REAL *restrict a, const REAL *restrict b, REAL *restrict c, int n)
{
    memset(c, 0, sizeof(REAL) * n * n);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}
