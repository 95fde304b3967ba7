#include "native.h"
enum { MOST = 8192 };

static inline int mirrored(int i, int n) { return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i; }

// A row's three colours first, then their places in the table, in loops of their own.
void run(const unsigned short *restrict raw, const uchar *restrict table, uchar *restrict image, int w, int h,
         int black, float red_gain, float green_gain, float blue_gain) {
    static unsigned short rows[3][MOST + 2];
    static int colours[3][MOST];
    float gains[3] = {red_gain, green_gain, blue_gain};
    for (int y = 0; y < h; y++) {
        for (int k = 0; k < 3; k++) {
            const unsigned short *from = raw + (long)mirrored(y + k - 1, h) * w;
            memcpy(rows[k] + 1, from, w * sizeof *from);
            rows[k][0] = from[1];
            rows[k][w + 1] = from[w - 2];
        }
        const unsigned short *n = rows[0] + 1, *c = rows[1] + 1, *s = rows[2] + 1;
        int *own = colours[y % 2 ? 2 : 0], *green = colours[1], *other = colours[y % 2 ? 0 : 2], odd = y % 2;
#pragma omp simd
        for (int x = 0; x < w; x++) {
            int sides = c[x - 1] + c[x + 1], ends = n[x] + s[x];
            int corners = n[x - 1] + n[x + 1] + s[x - 1] + s[x + 1];
            int full = (x & 1) == odd;
            own[x] = full ? c[x] : (sides + 1) / 2;
            green[x] = full ? (sides + ends + 2) / 4 : c[x];
            other[x] = full ? (corners + 2) / 4 : (ends + 1) / 2;
        }
        for (int k = 0; k < 3; k++) {
            float gain = gains[k];
#pragma omp simd
            for (int x = 0; x < w; x++) {
                float v = (float)(colours[k][x] - black) * gain;
                int i = (int)(v + 0.5f);
                colours[k][x] = MIN(MAX(i, 0), 4095);
            }
        }
        uchar *to = image + (long)y * w * 3;
        for (int x = 0; x < w; x++)
            for (int k = 0; k < 3; k++)
                to[3 * x + k] = table[colours[k][x]];
    }
}
