#include "native.h"

void run(const uchar *restrict s, uchar *restrict d, int w, int h) {
    for (int y = 0; y < h; y++) {
        const uchar *u = s + (y ? y - 1 : 0) * w, *c = s + y * w, *b = s + (y < h - 1 ? y + 1 : h - 1) * w;
#define PX(x, l, r)                                                                                          \
    {                                                                                                        \
        short gx = u[r] + 2 * c[r] + b[r] - u[l] - 2 * c[l] - b[l],                                          \
              gy = b[l] + 2 * b[x] + b[r] - u[l] - 2 * u[x] - u[r];                                          \
        short m = abs(gx) + abs(gy);                                                                         \
        d[y * w + x] = m > 255 ? 255 : m;                                                                    \
    }
        PX(0, 0, 1)
        for (int x = 1; x < w - 1; x++)
            PX(x, x - 1, x + 1)
        PX(w - 1, w - 2, w - 1)
    }
}
