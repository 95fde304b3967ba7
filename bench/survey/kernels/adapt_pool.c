// Adaptive average pooling of halves (rows first) and floats (columns first), and the gradient of the latter.
#include "native.h"

static inline int start(int a, int b, int c) {
    return a * c / b;
}

static inline int end(int a, int b, int c) {
    return 1 + ((a + 1) * c - 1) / b;
}

void run(const _Float16 *restrict in_half, const float *restrict in_float, const float *restrict grad_output,
         _Float16 *restrict out_half, float *restrict out_float, float *restrict grad_input, int planes, int ih,
         int iw, int oh, int ow) {
    float *column = malloc(iw * sizeof(float)), *scaled = malloc(iw * sizeof(float));
    for (int p = 0; p < planes; p++) {
        const _Float16 *a = in_half + (long)p * ih * iw;
        for (int y = 0; y < oh; y++) {
            int y0 = start(y, oh, ih), y1 = end(y, oh, ih);
            memset(column, 0, iw * sizeof(float));
            for (int r = y0; r < y1; r++)
#pragma omp simd
                for (int x = 0; x < iw; x++)
                    column[x] += (float)a[r * iw + x];
            for (int x = 0; x < ow; x++) {
                int x0 = start(x, ow, iw), x1 = end(x, ow, iw);
                float sum = 0;
                for (int c = x0; c < x1; c++)
                    sum += column[c];
                out_half[((long)p * oh + y) * ow + x] = sum / ((y1 - y0) * (x1 - x0));
            }
        }
        // The other input has its columns one after the other.
        const float *b = in_float + (long)p * ih * iw;
        for (int y = 0; y < oh; y++) {
            int y0 = start(y, oh, ih), y1 = end(y, oh, ih);
            for (int x = 0; x < ow; x++) {
                int x0 = start(x, ow, iw), x1 = end(x, ow, iw);
                float sum = 0;
                for (int c = x0; c < x1; c++)
                    for (int r = y0; r < y1; r++)
                        sum += b[c * ih + r];
                out_float[((long)p * oh + y) * ow + x] = sum / ((y1 - y0) * (x1 - x0));
            }
        }
        const float *g = grad_output + (long)p * oh * ow;
        float *d = grad_input + (long)p * ih * iw;
        memset(d, 0, (long)ih * iw * sizeof(float));
        for (int y = 0; y < oh; y++) {
            int y0 = start(y, oh, ih), y1 = end(y, oh, ih);
            memset(scaled, 0, iw * sizeof(float));
            for (int x = 0; x < ow; x++) {
                int x0 = start(x, ow, iw), x1 = end(x, ow, iw);
                float v = g[y * ow + x] / (x1 - x0) / (y1 - y0);
                for (int c = x0; c < x1; c++)
                    scaled[c] += v;
            }
            for (int r = y0; r < y1; r++)
#pragma omp simd
                for (int x = 0; x < iw; x++)
                    d[r * iw + x] += scaled[x];
        }
    }
    free(column);
    free(scaled);
}
