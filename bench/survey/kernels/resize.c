#include "native.h"

void run(const uchar *restrict s, uchar *restrict d, int sw, int sh, int dw, int dh, float fx, float fy) {
    for (int y = 0; y < dh; y++) {
        float v = fmaxf((y + 0.5f) * fy - 0.5f, 0);
        int y0 = (int)v;
        float b = v - y0;
        int y1 = MIN(y0 + 1, sh - 1);
        const uchar *r0 = s + y0 * sw, *r1 = s + y1 * sw;
        for (int x = 0; x < dw; x++) {
            float u = (x + 0.5f) * fx - 0.5f;
            u = u > 0 ? u : 0;
            int x0 = (int)u;
            float a = u - x0;
            int x1 = MIN(x0 + 1, sw - 1);
            float p = r0[x0] * (1 - a) + r0[x1] * a, q = r1[x0] * (1 - a) + r1[x1] * a;
            d[y * dw + x] = (uchar)(p * (1 - b) + q * b + 0.5f);
        }
    }
}
