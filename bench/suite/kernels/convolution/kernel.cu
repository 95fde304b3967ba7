// 5x5 weights; coordinates outside the image are those of its edge.
#include "dialect.h"

KERNEL void convolution(GLOBAL const REAL *image, GLOBAL const REAL *weights, GLOBAL REAL *out, int width,
                        int height)
{
    int x = INDEX_X, y = INDEX_Y;
    if (x >= width || y >= height)
        return;
    REAL sum = 0;
    UNROLL for (int dy = -2; dy <= 2; dy++) {
        int row = min(max(y + dy, 0), height - 1);
        UNROLL for (int dx = -2; dx <= 2; dx++) {
            int column = min(max(x + dx, 0), width - 1);
            sum += weights[(dy + 2) * 5 + dx + 2] * image[row * width + column];
        }
    }
    out[y * width + x] = sum;
}
