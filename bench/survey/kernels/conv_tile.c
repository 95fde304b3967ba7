#include "native.h"

static const float weights[7][7] = {
    {0.001f, 0.003f, 0.005f, 0.006f, 0.005f, 0.003f, 0.001f}, {0.003f, 0.012f, 0.022f, 0.028f, 0.022f, 0.012f, 0.003f},
    {0.005f, 0.022f, 0.042f, 0.052f, 0.042f, 0.022f, 0.005f}, {0.006f, 0.028f, 0.052f, 0.065f, 0.052f, 0.028f, 0.006f},
    {0.005f, 0.022f, 0.042f, 0.052f, 0.042f, 0.022f, 0.005f}, {0.003f, 0.012f, 0.022f, 0.028f, 0.022f, 0.012f, 0.003f},
    {0.001f, 0.003f, 0.005f, 0.006f, 0.005f, 0.003f, 0.001f}};

static float edge(const float *in, int x, int y, int w, int h) {
    float s = 0;
    for (int i = MAX(0, 3 - y); i < MIN(7, h + 3 - y); i++)
        for (int j = MAX(0, 3 - x); j < MIN(7, w + 3 - x); j++)
            s += weights[i][j] * in[(y + i - 3) * w + x + j - 3];
    return s;
}

void run(const float *restrict in, float *restrict out, int w, int h) {
    for (int y = 0; y < h; y++) {
        int inside = y >= 3 && y < h - 3, from = inside ? MIN(3, w) : w, to = inside ? MAX(from, w - 3) : w;
        for (int x = 0; x < from; x++)
            out[y * w + x] = edge(in, x, y, w, h);
        for (int x = from; x < to; x++)
            out[y * w + x] = 0;
        for (int i = 0; i < 7 && inside; i++) {
            const float *p = in + (y + i - 3) * w - 3, *c = weights[i];
            for (int x = from; x < to; x++)
                out[y * w + x] += c[0] * p[x] + c[1] * p[x + 1] + c[2] * p[x + 2] + c[3] * p[x + 3] +
                                  c[4] * p[x + 4] + c[5] * p[x + 5] + c[6] * p[x + 6];
        }
        for (int x = to; x < w; x++)
            out[y * w + x] = edge(in, x, y, w, h);
    }
}
