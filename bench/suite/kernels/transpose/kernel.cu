// A 32x32 tile through shared memory; a column of padding keeps the banks apart.
#include "dialect.h"

KERNEL void transpose(GLOBAL const REAL *from, GLOBAL REAL *to, int n)
{
    SHARED REAL tile[32][33];
    int x = THREAD_X, y = THREAD_Y, left = BLOCK_X * 32, top = BLOCK_Y * 32;
    for (int i = y; i < 32; i += 8)
        tile[i][x] = from[(top + i) * n + left + x];
    BARRIER();
    for (int i = y; i < 32; i += 8)
        to[(left + i) * n + top + x] = tile[x][i];
}
