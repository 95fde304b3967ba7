// Steps until a point escapes.
#include "dialect.h"

KERNEL void mandelbrot(GLOBAL int *steps, int width, int height, REAL left, REAL top, REAL scale, int limit)
{
    int column = INDEX_X, row = INDEX_Y;
    if (column >= width || row >= height)
        return;
    REAL cx = left + column * scale, cy = top + row * scale, x = 0, y = 0;
    int i = 0;
    while (i < limit && x * x + y * y <= 4) {
        REAL next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        i++;
    }
    steps[row * width + column] = i;
}
