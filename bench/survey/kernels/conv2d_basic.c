#include "native.h"

void run(const float *restrict in, const float *restrict filter, float *restrict out, int r, int width, int height) {
    for (int y = 0; y < height; y++) {
        float *o = out + y * width;
        memset(o, 0, width * sizeof(float));
        for (int fr = MAX(0, r - y); fr < 2 * r + 1 && y - r + fr < height; fr++)
            for (int fc = 0; fc < 2 * r + 1; fc++) {
                float f = filter[fr * (2 * r + 1) + fc];
                const float *i = in + (y - r + fr) * width + fc - r;
#pragma omp simd
                for (int x = MAX(0, r - fc); x < MIN(width, width + r - fc); x++)
                    o[x] += f * i[x];
            }
    }
}
