#include "native.h"

// The gradients of a row, from -1 to w; `p`, `q` and `r` begin at -2.
static void gradients(const float *restrict p, const float *restrict q, const float *restrict r, float *restrict gx,
                      float *restrict gy, int n) {
#pragma omp simd
    for (int x = 0; x < n; x++) {
        gx[x] = p[x + 2] - p[x] + 2 * (q[x + 2] - q[x]) + r[x + 2] - r[x];
        gy[x] = r[x] - p[x] + 2 * (r[x + 1] - p[x + 1]) + r[x + 2] - p[x + 2];
    }
}

void run(const uchar *restrict image, float *restrict response, int w, int h, float k) {
    int wide = w + 4, n = w + 2;
    float *pixels = malloc(sizeof(float) * wide * (h + 4)), *gx = malloc(sizeof(float) * n * (h + 2)),
          *gy = malloc(sizeof(float) * n * (h + 2));
    for (int y = 0; y < h + 4; y++) {
        const uchar *in = image + MIN(MAX(y - 2, 0), h - 1) * w;
        float *p = pixels + y * wide;
        for (int x = 0; x < w; x++)
            p[x + 2] = in[x] / 255.0f;
        p[0] = p[1] = p[2];
        p[w + 2] = p[w + 3] = p[w + 1];
    }
    for (int y = 0; y < h + 2; y++)
        gradients(pixels + y * wide, pixels + (y + 1) * wide, pixels + (y + 2) * wide, gx + y * n, gy + y * n, n);
    for (int y = 0; y < h; y++)
#pragma omp simd
        for (int x = 0; x < w; x++) {
            float xx = 0, yy = 0, xy = 0;
            for (int j = 0; j < 3; j++)
                for (int i = 0; i < 3; i++) {
                    float dx = gx[(y + j) * n + x + i], dy = gy[(y + j) * n + x + i];
                    xx += dx * dx;
                    yy += dy * dy;
                    xy += dx * dy;
                }
            response[y * w + x] = xx * yy - xy * xy - k * (xx + yy) * (xx + yy);
        }
    free(pixels), free(gx), free(gy);
}
