#include "native.h"

void run(const float *restrict u, const float *restrict before, float *restrict next, int w, int h, float c) {
    for (int y = 0; y < h; y++) {
        const float *m = u + y * w, *up = y == 0 ? m + w : m - w, *down = m + w, *b = before + y * w;
        float *o = next + y * w;
        if (y == h - 1) {
            for (int x = 1; x < w - 1; x++)
                o[x] = m[x] + c * (up[x] - m[x]);
        } else {
#pragma omp simd
            for (int x = 1; x < w - 1; x++)
                o[x] = 2.0f * m[x] - b[x] + c * c * (m[x - 1] + m[x + 1] + up[x] + down[x] - 4.0f * m[x]);
        }
        o[0] = o[w - 1] = 0.0f;
    }
}
