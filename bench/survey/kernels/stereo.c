#include "native.h"

void run(const uchar *restrict l, const uchar *restrict r, uchar *restrict d, int w, int h, int most) {
    for (int y = 2; y < h - 2; y++)
        for (int x = most + 2; x < w - 2; x++) {
            int best = 1 << 30, at = 0;
            for (int k = 0; k < most; k++) {
                int s = 0;
                for (int dy = -2; dy <= 2; dy++)
                    for (int dx = -2; dx <= 2; dx++)
                        s += abs(l[(y + dy) * w + x + dx] - r[(y + dy) * w + x + dx - k]);
                if (s < best) {
                    best = s;
                    at = k;
                }
            }
            d[y * w + x] = at;
        }
}
