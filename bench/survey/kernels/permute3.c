// Axes of a block of doubles in another order, thrice: exchanges by tiles that the cache holds.
#include "native.h"

enum { T = 16 };

static void exchange(const double *restrict in, double *restrict out, int w, int h, long in_pitch, long out_pitch) {
    for (int y0 = 0; y0 < h; y0 += T)
        for (int x0 = 0; x0 < w; x0 += T)
            for (int x = x0; x < MIN(w, x0 + T); x++)
                for (int y = y0; y < MIN(h, y0 + T); y++)
                    out[x * out_pitch + y] = in[y * in_pitch + x];
}

void run(const double *restrict in, double *restrict a, double *restrict b, double *restrict c, int d0, int d1,
         int d2) {
    for (int z = 0; z < d0; z++)
        exchange(in + (long)z * d1 * d2, a + (long)z * d1 * d2, d2, d1, d2, d1);
    for (int z = 0; z < d2; z++)  // a is [d0][d2][d1], b is [d1][d2][d0]
        exchange(a + (long)z * d1, b + (long)z * d0, d1, d0, (long)d2 * d1, (long)d2 * d0);
    for (int x = 0; x < d2; x++)  // c[d2][d1][d0]
        for (int y = 0; y < d1; y++)
            memcpy(c + ((long)x * d1 + y) * d0, b + ((long)y * d2 + x) * d0, d0 * sizeof *c);
}
