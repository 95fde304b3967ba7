#include "native.h"

static int cell(const int *in, int x, int y, int w, int h) {
    return x >= 0 && x < w && y >= 0 && y < h ? in[y * w + x] : 0;
}

static void edge(const int *in, int *out, int x, int y, int w, int h) {
    int n = -cell(in, x, y, w, h);
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            n += cell(in, x + dx, y + dy, w, h);
    out[y * w + x] = n == 3 || (n == 2 && in[y * w + x]);
}

void run(const int *restrict in, int *restrict out, int w, int h) {
    for (int y = 0; y < h; y++) {
        if (y == 0 || y == h - 1) {
            for (int x = 0; x < w; x++)
                edge(in, out, x, y, w, h);
            continue;
        }
        edge(in, out, 0, y, w, h);
        edge(in, out, w - 1, y, w, h);
        const int *r = in + y * w;
#pragma omp simd
        for (int x = 1; x < w - 1; x++) {
            int n = r[x - w - 1] + r[x - w] + r[x - w + 1] + r[x - 1] + r[x + 1] + r[x + w - 1] + r[x + w] + r[x + w + 1];
            out[y * w + x] = (n == 3) | ((n == 2) & (r[x] != 0));
        }
    }
}
