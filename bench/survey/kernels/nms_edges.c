#include "native.h"

void run(const float *restrict mag, const uchar *restrict dir, float *restrict out, int w, int h) {
    memset(out, 0, (size_t)w * h * sizeof(float));
    for (int y = 1; y < h - 1; y++)
#pragma omp simd
        for (int x = 1; x < w - 1; x++) {
            const float *m = mag + y * w + x;
            int d = dir[y * w + x];
            float a = d == 0 ? m[-1] : d == 1 ? m[-w + 1] : d == 2 ? m[-w] : m[-w - 1];
            float b = d == 0 ? m[1] : d == 1 ? m[w - 1] : d == 2 ? m[w] : m[w + 1];
            out[y * w + x] = *m >= a && *m >= b ? *m : 0.0f;
        }
}
