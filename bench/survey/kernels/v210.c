#include "native.h"

static inline uint clamp8(int v) {
    return MIN(MAX(v, 0), 255);
}

static inline uint colour(const int *m, int y, int u, int v) {
    int l = (y - 64) * m[0] + (1 << 14);
    return clamp8((l + m[1] * v) >> 15) | clamp8((l + m[2] * u + m[3] * v) >> 15) << 8 |
           clamp8((l + m[4] * u) >> 15) << 16 | 0xff000000u;
}

void run(const uint *restrict frame, uint *restrict rgba, uint *restrict small, int width, int height, int row_groups,
         int hd) {
    const int m[5] = {9539, hd ? 14688 : 13075, hd ? -1747 : -3209, hd ? -4366 : -6660, hd ? 17305 : 16525};
    int groups = (width + 5) / 6;
    short *luma = malloc(groups * 6 * sizeof(short)), *us = malloc((groups * 3 + 1) * sizeof(short)),
          *vs = malloc((groups * 3 + 1) * sizeof(short));
    for (int row = 0; row < height; row++) {
        const uint *q = frame + (size_t)row * row_groups * 4;
        for (int g = 0; g < groups; g++, q += 4) {
            short *l = luma + 6 * g, *u = us + 3 * g, *v = vs + 3 * g;
            u[0] = q[0] & 1023;
            l[0] = q[0] >> 10 & 1023;
            v[0] = q[0] >> 20 & 1023;
            l[1] = q[1] & 1023;
            u[1] = q[1] >> 10 & 1023;
            l[2] = q[1] >> 20 & 1023;
            v[1] = q[2] & 1023;
            l[3] = q[2] >> 10 & 1023;
            u[2] = q[2] >> 20 & 1023;
            l[4] = q[3] & 1023;
            v[2] = q[3] >> 10 & 1023;
            l[5] = q[3] >> 20 & 1023;
        }
        us[3 * groups] = us[3 * groups - 1];
        vs[3 * groups] = vs[3 * groups - 1];
        uint *restrict to = rgba + (size_t)row * width;
        for (int c = 0; c < width / 2; c++) {  // even pixels have their own chroma, odd ones the mean of two
            int u = us[c] - 512, v = vs[c] - 512;
            int u2 = ((us[c] + us[c + 1] + 1) >> 1) - 512, v2 = ((vs[c] + vs[c + 1] + 1) >> 1) - 512;
            to[2 * c] = colour(m, luma[2 * c], u, v);
            to[2 * c + 1] = colour(m, luma[2 * c + 1], u2, v2);
        }
        if (width & 1)
            to[width - 1] = colour(m, luma[width - 1], us[width / 2] - 512, vs[width / 2] - 512);
    }
    free(luma);
    free(us);
    free(vs);
    for (int y = 0; y < height / 2; y++) {
        const uchar *a = (const uchar *)(rgba + (size_t)(2 * y) * width), *b = a + 4 * (size_t)width;
        uchar *restrict to = (uchar *)(small + (size_t)y * (width / 2));
        for (int x = 0; x < width / 2; x++)
            for (int c = 0; c < 4; c++) {
                int top = (a[8 * x + c] + a[8 * x + 4 + c] + 1) >> 1, bottom = (b[8 * x + c] + b[8 * x + 4 + c] + 1) >> 1;
                to[4 * x + c] = (top + bottom + 1) >> 1;
            }
    }
}
