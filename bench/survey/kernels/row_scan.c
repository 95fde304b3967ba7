#include "native.h"

void run(uint *restrict a, int w, int h) {
    for (int y = 0; y < h; y++)
        for (int x = 1; x < w; x++)
            a[y * w + x] += a[y * w + x - 1];
}
