#include "native.h"

void run(REAL *restrict a, int n, int steps)
{
    for (int k = 0; k < steps; k++)
        for (int row = k + 1; row < n; row++) {
            a[row * n + k] /= a[k * n + k];
            for (int column = k + 1; column < n; column++)
                a[row * n + column] -= a[row * n + k] * a[k * n + column];
        }
}
