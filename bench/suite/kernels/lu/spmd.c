// A row of the update by registers.
#include "native.h"

static inline void update(REAL *restrict row, const REAL *restrict top, REAL factor, int first, int n)
{
    int column = first;
    for (; column + LANES <= n; column += LANES)
        STORE(row + column, LOAD(row + column) - factor * LOAD(top + column));
    for (; column < n; column++)
        row[column] -= factor * top[column];
}

void run(REAL *restrict a, int n, int steps)
{
    for (int k = 0; k < steps; k++)
        for (int row = k + 1; row < n; row++) {
            a[row * n + k] /= a[k * n + k];
            update(a + row * n, a + k * n, a[row * n + k], k + 1, n);
        }
}
