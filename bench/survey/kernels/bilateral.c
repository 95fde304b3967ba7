#include "native.h"

void run(const float *restrict in, float *restrict out, int w, int h, float is, float ir) {
    for (int y = 0; y < h; y++) {
        const float *rw[5];
        for (int d = 0; d < 5; d++)
            rw[d] = in + MIN(MAX(y + d - 2, 0), h - 1) * w;
#define ONE(CL)                                                                                              \
    {                                                                                                        \
        float c = rw[2][x], s = 0, t = 0;                                                                    \
        for (int dy = -2; dy <= 2; dy++)                                                                     \
            for (int dx = -2; dx <= 2; dx++) {                                                               \
                int xx = CL;                                                                                 \
                float v = rw[dy + 2][xx], d = v - c;                                                         \
                float k = expf(-(dx * dx + dy * dy) * is - d * d * ir);                                      \
                s += k * v;                                                                                  \
                t += k;                                                                                      \
            }                                                                                                \
        out[y * w + x] = s / t;                                                                              \
    }
        for (int x = 0; x < 2; x++)
            ONE(MIN(MAX(x + dx, 0), w - 1))
#pragma omp simd
        for (int x = 2; x < w - 2; x++)
            ONE(x + dx)
        for (int x = w - 2; x < w; x++)
            ONE(MIN(MAX(x + dx, 0), w - 1))
    }
}
