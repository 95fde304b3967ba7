#include "native.h"

static inline int mirrored(int i, int n) {
    i = i < 0 ? -i : i;
    return i >= n ? 2 * n - 2 - i : i;
}

static inline uint clamp8(int v) {
    v = (v + 8) >> 4;
    return MIN(MAX(v, 0), 255);
}

// Five padded rows; all four filters of each pixel, then those that its place needs.
void run(const uchar *restrict raw, uint *restrict rgba, int w, int h) {
    int pitch = w + 4;
    uchar *own = malloc((size_t)(h + 4) * pitch);
    for (int y = -2; y < h + 2; y++) {
        const uchar *from = raw + (size_t)mirrored(y, h) * w;
        uchar *to = own + (size_t)(y + 2) * pitch + 2;
        memcpy(to, from, w);
        to[-1] = from[1], to[-2] = from[2], to[w] = from[w - 2], to[w + 1] = from[w - 3];
    }
    for (int y = 0; y < h; y++) {
        const uchar *restrict r0 = own + (size_t)y * pitch + 2, *restrict r1 = r0 + pitch, *restrict r2 = r1 + pitch;
        const uchar *restrict r3 = r2 + pitch, *restrict r4 = r3 + pitch;
        uint *restrict out = rgba + (size_t)y * w;
        int odd = y & 1;
#pragma omp simd
        for (int x = 0; x < w; x++) {
            int c = r2[x], ns = r1[x] + r3[x], ew = r2[x - 1] + r2[x + 1], ns2 = r0[x] + r4[x];
            int ew2 = r2[x - 2] + r2[x + 2], diag = r1[x - 1] + r1[x + 1] + r3[x - 1] + r3[x + 1];
            int cross = 8 * c + 4 * (ns + ew) - 2 * (ns2 + ew2), along = 10 * c + 8 * ew - 2 * (diag + ew2) + ns2;
            int across = 10 * c + 8 * ns - 2 * (diag + ns2) + ew2, opposite = 12 * c + 4 * diag - 3 * (ns2 + ew2);
            int even_x = !(x & 1), own_colour = even_x != odd;  // red or blue here
            int row_colour = own_colour ? 16 * c : along, other = own_colour ? opposite : across;
            uint g = clamp8(own_colour ? cross : 16 * c), a = clamp8(row_colour), b = clamp8(other);
            out[x] = (odd ? b : a) | g << 8 | (odd ? a : b) << 16 | 0xff000000u;
        }
    }
    free(own);
}
