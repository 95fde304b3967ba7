#include "native.h"

void run(const uchar *restrict in, const float *restrict kernel, uchar *restrict out, int w, int h, int n) {
    float *restrict sums = malloc(sizeof(float) * 4 * w);
    for (int b = 0; b < n; b++)
        for (int y = 0; y < h; y++) {
            const uchar *picture = in + (long)b * w * h * 4;
            memset(sums, 0, sizeof(float) * 4 * w);
            for (int ky = -1; ky <= 1; ky++) {
                if (y + ky < 0 || y + ky >= h)
                    continue;
                for (int kx = -1; kx <= 1; kx++) {
                    const uchar *row = picture + (y + ky) * w * 4 + 4 * kx;
                    float f = kernel[(ky + 1) * 3 + kx + 1];
                    int first = kx < 0 ? 4 : 0, end = kx > 0 ? 4 * w - 4 : 4 * w;
#pragma omp simd
                    for (int i = first; i < end; i++)
                        sums[i] += row[i] * f;
                }
            }
            const uchar *p = picture + y * w * 4;
            uchar *o = out + ((long)b * h + y) * w * 4;
#pragma omp simd
            for (int i = 0; i < 4 * w; i++) {
                float v = sums[i] < 0 ? 0 : sums[i];
                int byte = (v > 255 ? 255 : v) + 0.5f, alpha = p[i];
                o[i] = i % 4 == 3 ? alpha : byte;
            }
        }
    free(sums);
}
