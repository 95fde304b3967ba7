#include "native.h"

static inline uchar clip(int v) { return v < 0 ? 0 : v > 255 ? 255 : v; }
void run(const uchar *restrict y, const uchar *restrict u, const uchar *restrict v, uchar *restrict o, int w, int h) {
    for (int j = 0; j < h; j++)
        for (int i = 0; i < w; i++) {
            int c = (y[j * w + i] - 16) * 298, d = u[j / 2 * (w / 2) + i / 2] - 128, e = v[j / 2 * (w / 2) + i / 2] - 128;
            uchar *p = o + 4 * (j * w + i);
            p[0] = clip((c + 409 * e + 128) >> 8);
            p[1] = clip((c - 100 * d - 208 * e + 128) >> 8);
            p[2] = clip((c + 516 * d + 128) >> 8);
            p[3] = 255;
        }
}
