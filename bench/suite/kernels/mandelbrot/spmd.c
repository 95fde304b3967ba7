// Two registers of pixels at once; they step until the last of them has escaped.
#include "native.h"
enum { SETS = 2 };

static inline int any(mask m)
{
    long long all = 0;
    typedef long long wide __attribute__((vector_size(64)));
    wide w = (wide)m;
    for (int l = 0; l < 8; l++)
        all |= w[l];
    return all != 0;
}

static inline void pixels(int *restrict steps, REAL left, REAL cy, REAL scale, int column, int limit)
{
    vec cx[SETS], x[SETS] = {0}, y[SETS] = {0};
    mask count[SETS] = {0};
    for (int h = 0; h < SETS; h++)
        for (int l = 0; l < LANES; l++)
            cx[h][l] = left + (column + h * LANES + l) * scale;
    for (int i = 0; i < limit; i++) {
        mask going[SETS];
#pragma GCC unroll 2
        for (int h = 0; h < SETS; h++) {
            vec xx = x[h] * x[h], yy = y[h] * y[h];
            going[h] = xx + yy <= 4;
            count[h] -= going[h];
            y[h] = 2 * x[h] * y[h] + cy;
            x[h] = xx - yy + cx[h];
        }
        if (!any(going[0] | going[1]))
            break;
    }
    for (int h = 0; h < SETS; h++)
        for (int l = 0; l < LANES; l++)
            steps[column + h * LANES + l] = count[h][l];
}

void run(int *restrict steps, int width, int height, REAL left, REAL top, REAL scale, int limit)
{
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column += SETS * LANES)
            pixels(steps + row * width, left, top + row * scale, scale, column, limit);
}
