#include "native.h"

void run(const uchar *restrict s, uchar *restrict d, int w, int h) {
    for (int y = 1; y < h - 1; y++) {
        for (int x = 1; x < w - 1; x++) {
            const uchar *u = s + (y - 1) * w + x, *c = u + w, *b = c + w;
            int gx = u[1] + 2 * c[1] + b[1] - u[-1] - 2 * c[-1] - b[-1],
                gy = b[-1] + 2 * b[0] + b[1] - u[-1] - 2 * u[0] - u[1];
            float m = sqrtf((float)(gx * gx + gy * gy));
            m = m < 255 ? m : 255;
            d[y * w + x] = (uchar)m;
        }
    }
}
