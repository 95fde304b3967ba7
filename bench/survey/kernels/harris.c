#include "native.h"

static float at(const uchar *p, int x, int y, int w, int h) {
    return p[MIN(MAX(y, 0), h - 1) * w + MIN(MAX(x, 0), w - 1)];
}

void run(const uchar *restrict in, float *restrict out, int w, int h, float k) {
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float xx = 0, yy = 0, xy = 0;
            for (int j = -1; j <= 1; j++)
                for (int i = -1; i <= 1; i++) {
                    float dx = at(in, x + i + 1, y + j, w, h) - at(in, x + i - 1, y + j, w, h);
                    float dy = at(in, x + i, y + j + 1, w, h) - at(in, x + i, y + j - 1, w, h);
                    xx += dx * dx;
                    yy += dy * dy;
                    xy += dx * dy;
                }
            out[y * w + x] = xx * yy - xy * xy - k * (xx + yy) * (xx + yy);
        }
}
