// Correlations around each pixel's guess: all products of a pixel first, then the bilinear sums.
#include "native.h"

void run(const float *restrict f1, const float *restrict f2, const float *restrict coords, float *restrict corr,
         int h1, int w1, int h2, int w2, int channels, int r, int batch) {
    int rd = 2 * r + 1, side = rd + 1;
    float dots[32 * 32];
    for (int b = 0; b < batch; b++)
        for (int y = 0; y < h1; y++)
            for (int x = 0; x < w1; x++) {
                long pixel = ((long)b * h1 + y) * w1 + x;
                const float *own = f1 + pixel * channels;
                float cx = coords[2 * pixel], cy = coords[2 * pixel + 1], dx = cx - floorf(cx), dy = cy - floorf(cy);
                int x0 = (int)floorf(cx) - r, y0 = (int)floorf(cy) - r;
                for (int iy = 0; iy < side; iy++)
                    for (int ix = 0; ix < side; ix++) {
                        int py = y0 + iy, px = x0 + ix;
                        float sum = 0;
                        if (py >= 0 && px >= 0 && py < h2 && px < w2) {
                            const float *other = f2 + (((long)b * h2 + py) * w2 + px) * channels;
#pragma omp simd reduction(+ : sum)
                            for (int c = 0; c < channels; c++)
                                sum += own[c] * other[c];
                        }
                        dots[iy * side + ix] = sum;
                    }
                float *out = corr + (long)b * rd * rd * h1 * w1 + y * w1 + x;
                for (int iy = 0; iy < rd; iy++)
                    for (int ix = 0; ix < rd; ix++) {
                        const float *d = dots + iy * side + ix;
                        out[(long)(iy * rd + ix) * h1 * w1] = (1 - dy) * ((1 - dx) * d[0] + dx * d[1]) +
                                                              dy * ((1 - dx) * d[side] + dx * d[side + 1]);
                    }
            }
}
