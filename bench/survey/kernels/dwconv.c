#include "native.h"

void run(const float *restrict a, const float *restrict k, float *restrict b, int h, int w, int c) {
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float *q = b + (y * w + x) * c;
            memset(q, 0, 4 * c);
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    if (y + dy >= 0 && y + dy < h && x + dx >= 0 && x + dx < w) {
                        const float *p = a + ((y + dy) * w + x + dx) * c, *r = k + ((dy + 1) * 3 + dx + 1) * c;
                        for (int m = 0; m < c; m++)
                            q[m] += p[m] * r[m];
                    }
        }
}
