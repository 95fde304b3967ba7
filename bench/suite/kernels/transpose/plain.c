#include "native.h"

void run(const REAL *restrict from, REAL *restrict to, int n)
{
    for (int row = 0; row < n; row++)
        for (int column = 0; column < n; column++)
            to[column * n + row] = from[row * n + column];
}
