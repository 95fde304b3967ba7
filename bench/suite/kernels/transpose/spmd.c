// 32x32 tiles through a padded buffer, as the CUDA version does.
#include "native.h"

void run(const REAL *restrict from, REAL *restrict to, int n)
{
    for (int top = 0; top < n; top += 32)
        for (int left = 0; left < n; left += 32) {
            REAL tile[32][33];
            for (int i = 0; i < 32; i++)
                memcpy(tile[i], from + (top + i) * n + left, 32 * sizeof(REAL));
            for (int i = 0; i < 32; i++)
#pragma omp simd
                for (int x = 0; x < 32; x++)
                    to[(left + i) * n + top + x] = tile[x][i];
        }
}
