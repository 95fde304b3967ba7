// c = a * b for square matrices whose side is a multiple of 16, through 16x16 tiles in shared memory.
#include "dialect.h"
#define TILE 16

KERNEL void matmul(GLOBAL const REAL *a, GLOBAL const REAL *b, GLOBAL REAL *c, int n)
{
    SHARED REAL left[TILE][TILE], right[TILE][TILE];
    int x = THREAD_X, y = THREAD_Y, column = INDEX_X, row = INDEX_Y;
    REAL sum = 0;
    for (int k = 0; k < n; k += TILE) {
        left[y][x] = a[row * n + k + x];
        right[y][x] = b[(k + y) * n + column];
        BARRIER();
        for (int i = 0; i < TILE; i++)
            sum += left[y][i] * right[i][x];
        BARRIER();
    }
    c[row * n + column] = sum;
}
