#include "native.h"

void run(const float *restrict in, float *restrict out, int w, int h, float a, float b) {
    for (int x = 0; x < w; x++)
        out[x] = a * in[x] + b * in[x];
    for (int k = 1; k < h; k++)
#pragma omp simd
        for (int x = 0; x < w; x++)
            out[k * w + x] = a * in[k * w + x] + b * out[(k - 1) * w + x];
    for (int x = 0; x < w; x++)
        out[(h - 1) * w + x] = a * out[(h - 1) * w + x] + b * out[(h - 1) * w + x];
    for (int k = h - 2; k >= 0; k--)
#pragma omp simd
        for (int x = 0; x < w; x++)
            out[k * w + x] = a * out[k * w + x] + b * out[(k + 1) * w + x];
}
