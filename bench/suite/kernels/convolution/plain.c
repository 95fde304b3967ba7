#include "native.h"

static inline int clamped(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

void run(const REAL *restrict image, const REAL *restrict weights, REAL *restrict out, int width, int height)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            REAL sum = 0;
            for (int dy = -2; dy <= 2; dy++)
                for (int dx = -2; dx <= 2; dx++)
                    sum += weights[(dy + 2) * 5 + dx + 2] *
                           image[clamped(y + dy, height) * width + clamped(x + dx, width)];
            out[y * width + x] = sum;
        }
}
