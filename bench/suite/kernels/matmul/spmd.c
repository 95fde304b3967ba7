// The tiles of the CUDA version: a row of a tile is one vector (or two), and stays in a register.
#include "native.h"
enum { TILE = 16, WIDTH = TILE / LANES };

static inline void tile(const REAL *restrict a, const REAL *restrict b, REAL *restrict c, int n)
{
    vec sum[TILE][WIDTH] = {0};
    for (int k = 0; k < n; k += TILE) {
        REAL left[TILE][TILE], right[TILE][TILE] __attribute__((aligned(64)));
        for (int y = 0; y < TILE; y++) {
            memcpy(left[y], a + y * n + k, sizeof left[y]);
            memcpy(right[y], b + (k + y) * n, sizeof right[y]);
        }
        for (int i = 0; i < TILE; i++)
#pragma GCC unroll 16
            for (int y = 0; y < TILE; y++)
#pragma GCC unroll 2
                for (int w = 0; w < WIDTH; w++)
                    sum[y][w] += left[y][i] * LOAD(right[i] + w * LANES);
    }
    for (int y = 0; y < TILE; y++)
        for (int w = 0; w < WIDTH; w++)
            STORE(c + y * n + w * LANES, sum[y][w]);
}

void run(const REAL *restrict a, const REAL *restrict b, REAL *restrict c, int n)
{
    for (int row = 0; row < n; row += TILE)
        for (int column = 0; column < n; column += TILE)
            tile(a + row * n, b + column, c + row * n + column, n);
}
