#include "native.h"

#define LAST(a, b, c, d, key)                                                                                 \
    ((((uint)s[a >> 24] << 24) | ((uint)s[(b >> 16) & 255] << 16) | ((uint)s[(c >> 8) & 255] << 8) |         \
      s[d & 255]) ^ key)

void run(const uint *restrict t, const uchar *restrict s, const uint *restrict k, uint *restrict out, int n) {
    const uint *t0 = t, *t1 = t + 256, *t2 = t + 512, *t3 = t + 768;
    for (int i = 0; i < n; i++) {
        uint a = k[0], b = k[1], c = k[2], d = k[3] ^ (uint)i;
        for (int r = 1; r < 10; r++) {
            uint e = t0[a >> 24] ^ t1[(b >> 16) & 255] ^ t2[(c >> 8) & 255] ^ t3[d & 255] ^ k[4 * r];
            uint f = t0[b >> 24] ^ t1[(c >> 16) & 255] ^ t2[(d >> 8) & 255] ^ t3[a & 255] ^ k[4 * r + 1];
            uint g = t0[c >> 24] ^ t1[(d >> 16) & 255] ^ t2[(a >> 8) & 255] ^ t3[b & 255] ^ k[4 * r + 2];
            uint h = t0[d >> 24] ^ t1[(a >> 16) & 255] ^ t2[(b >> 8) & 255] ^ t3[c & 255] ^ k[4 * r + 3];
            a = e;
            b = f;
            c = g;
            d = h;
        }
        out[4 * i] = LAST(a, b, c, d, k[40]);
        out[4 * i + 1] = LAST(b, c, d, a, k[41]);
        out[4 * i + 2] = LAST(c, d, a, b, k[42]);
        out[4 * i + 3] = LAST(d, a, b, c, k[43]);
    }
}
