#include "native.h"

// Samples to coefficients of cubic B-splines: rows eight at a time, columns side by side.
#define POLE (-0.267949192431122706f)
static const float LAMBDA = (1 - POLE) * (1 - 1 / POLE), LAST = POLE / (POLE - 1);
enum { ROWS = 8, WIDE = 256 };

static void rows(float *restrict c, size_t stride, int count, int n) {
    float p[ROWS];
    for (int r = 0; r < count; r++) {
        float sum = c[r * stride], power = POLE;
        for (int k = 1; k < MIN(12, n); k++) {
            sum += power * c[r * stride + k];
            power *= POLE;
        }
        c[r * stride] = p[r] = LAMBDA * sum;
    }
    if (count == ROWS) {
        for (int k = 1; k < n; k++)
            for (int r = 0; r < ROWS; r++)
                c[r * stride + k] = p[r] = LAMBDA * c[r * stride + k] + POLE * p[r];
    } else
        for (int r = 0; r < count; r++)
            for (int k = 1; k < n; k++)
                c[r * stride + k] = p[r] = LAMBDA * c[r * stride + k] + POLE * p[r];
    for (int r = 0; r < count; r++)
        c[r * stride + n - 1] = p[r] = LAST * p[r];
    if (count == ROWS) {
        for (int k = n - 2; k >= 0; k--)
            for (int r = 0; r < ROWS; r++)
                c[r * stride + k] = p[r] = POLE * (p[r] - c[r * stride + k]);
    } else
        for (int r = 0; r < count; r++)
            for (int k = n - 2; k >= 0; k--)
                c[r * stride + k] = p[r] = POLE * (p[r] - c[r * stride + k]);
}

void run(float *restrict image, uint pitch, uint width, uint height) {
    size_t stride = pitch / sizeof(float);
    for (uint y = 0; y < height; y += ROWS)
        rows(image + y * stride, stride, MIN(ROWS, height - y), width);
    for (uint first = 0; first < width; first += WIDE) {
        int w = MIN(WIDE, width - first), h = height;
        float *restrict c = image + first, sum[WIDE], power = POLE;
        memcpy(sum, c, w * sizeof(float));
        for (int k = 1; k < MIN(12, h); k++) {
            for (int x = 0; x < w; x++)
                sum[x] += power * c[k * stride + x];
            power *= POLE;
        }
        for (int x = 0; x < w; x++)
            c[x] = LAMBDA * sum[x];
        for (int k = 1; k < h; k++)
#pragma omp simd
            for (int x = 0; x < w; x++)
                c[k * stride + x] = LAMBDA * c[k * stride + x] + POLE * c[(k - 1) * stride + x];
        for (int x = 0; x < w; x++)
            c[(h - 1) * stride + x] *= LAST;
        for (int k = h - 2; k >= 0; k--)
#pragma omp simd
            for (int x = 0; x < w; x++)
                c[k * stride + x] = POLE * (c[(k + 1) * stride + x] - c[k * stride + x]);
    }
}
