// Moving things in a film of a fixed camera: a background that follows, a threshold that follows the noise, a mask
// that is eroded and dilated. Words of four pixels at the sides count as their own neighbours.
#include "native.h"

static void extremes(const uchar *restrict in, uchar *restrict line, uchar *restrict out, int w, int h, int dilates) {
    // `line` has four more on both sides.
    for (int y = 0; y < h; y++) {
        const uchar *a = in + MAX(y - 1, 0) * w, *b = in + y * w, *c = in + MIN(y + 1, h - 1) * w;
        uchar *restrict o = out + y * w, *restrict l = line + 4;
        if (dilates)
            for (int x = 0; x < w; x++)
                l[x] = MAX(a[x], MAX(b[x], c[x]));
        else
            for (int x = 0; x < w; x++)
                l[x] = MIN(a[x], MIN(b[x], c[x]));
        l[-1] = l[3];
        l[w] = l[w - 4];
        if (dilates)
            for (int x = 0; x < w; x++)
                o[x] = MAX(l[x - 1], MAX(l[x], l[x + 1]));
        else
            for (int x = 0; x < w; x++)
                o[x] = MIN(l[x - 1], MIN(l[x], l[x + 1]));
    }
}

void run(const uchar *restrict frames, uchar *restrict background, uchar *restrict spread, uchar *restrict mask,
         uchar *restrict eroded, uchar *restrict opened, uint *restrict moving, int width, int height, int count) {
    int n = 4 * width * height;
    uchar *line = malloc(4 * width + 8);
    for (int t = 0; t < count; t++) {
        const uchar *now = frames + (size_t)t * n;
        uint hits = 0;
#pragma omp simd reduction(+ : hits)
        for (int i = 0; i < n; i++) {
            int v = now[i], b = background[i], s = spread[i], change = v > b ? v - b : b - v;
            int limit = MAX(MIN(2 * s, 255), 12), out = change > limit;
            background[i] = out ? b : b + (v > b) - (v < b);
            int three = MIN(MIN(3 * change, 255), 127);
            spread[i] = t & 1 ? (s + (out ? 0 : three) + 1) >> 1 : s;
            mask[i] = out ? 255 : 0;
            hits += out;
        }
        moving[t] += hits;
        extremes(mask, line, eroded, 4 * width, height, 0);
        extremes(eroded, line, opened + (size_t)t * n, 4 * width, height, 1);
    }
    free(line);
}
