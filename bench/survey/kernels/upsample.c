#include "native.h"

void run(const float *restrict a, float *restrict b, int c, int h, int w) {
    for (int m = 0; m < c; m++)
        for (int y = 0; y < 2 * h; y++)
            for (int x = 0; x < 2 * w; x++)
                b[(m * 2 * h + y) * 2 * w + x] = a[(m * h + y / 2) * w + x / 2];
}
