#include "native.h"

void run(const float *restrict in, float *restrict out, int n, int c, int h, int w) {
    for (int p = 0; p < n * c; p++)
        for (int y = 0; y < h / 2; y++) {
            const float *a = in + (p * h + 2 * y) * w, *b = a + w;
            float *o = out + (p * (h / 2) + y) * (w / 2);
#pragma omp simd
            for (int x = 0; x < w / 2; x++)
                o[x] = (a[2 * x] + a[2 * x + 1] + b[2 * x] + b[2 * x + 1]) / 4.0f;
        }
}
