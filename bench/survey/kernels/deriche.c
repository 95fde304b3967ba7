// Deriche's recursive smoothing along rows, then along columns.
#include "native.h"

enum { W = 16 };  // lines side by side

// Lines along `n` elements, each of `lanes` values.
static void lines(const float *restrict x, float *restrict forward, float *restrict out, int n, int stride, int lanes,
                  float a1, float a2, float a3, float a4, float b1, float b2, float c) {
    float y1[W] = {0}, y2[W] = {0}, x1[W] = {0}, x2[W] = {0};
    for (int i = 0; i < n; i++)
#pragma omp simd
        for (int l = 0; l < lanes; l++) {
            float now = x[i * stride + l], y = a1 * now + a2 * x1[l] + b1 * y1[l] + b2 * y2[l];
            forward[i * stride + l] = y;
            x1[l] = now;
            y2[l] = y1[l];
            y1[l] = y;
        }
    memset(y1, 0, sizeof y1);
    memset(y2, 0, sizeof y2);
    memset(x1, 0, sizeof x1);
    for (int i = n - 1; i >= 0; i--)
#pragma omp simd
        for (int l = 0; l < lanes; l++) {
            float y = a3 * x1[l] + a4 * x2[l] + b1 * y1[l] + b2 * y2[l];
            x2[l] = x1[l];
            x1[l] = x[i * stride + l];
            y2[l] = y1[l];
            y1[l] = y;
            out[i * stride + l] = c * (forward[i * stride + l] + y);
        }
}

void run(const float *restrict img, float *restrict rows, float *restrict out, const float *restrict k,
         int w, int h) {
    float *in = malloc(3 * sizeof *in * W * (w + h)), *forward = in + W * (w + h), *done = forward + W * (w + h);
    for (int i = 0; i < h; i += W) {
        int lanes = MIN(W, h - i);
        for (int l = 0; l < lanes; l++)
            for (int j = 0; j < w; j++)
                in[j * W + l] = img[(i + l) * w + j];
        for (int l = lanes; l < W; l++)
            for (int j = 0; j < w; j++)
                in[j * W + l] = 0;
        lines(in, forward, done, w, W, W, k[0], k[1], k[2], k[3], k[8], k[9], k[10]);
        for (int l = 0; l < lanes; l++)
            for (int j = 0; j < w; j++)
                rows[(i + l) * w + j] = done[j * W + l];
    }
    for (int j = 0; j < w; j += W) {
        int lanes = MIN(W, w - j);
        for (int i = 0; i < h; i++)
            memcpy(in + i * W, rows + i * w + j, lanes * sizeof *in);
        lines(in, forward, done, h, W, W, k[4], k[5], k[6], k[7], k[8], k[9], k[11]);
        for (int i = 0; i < h; i++)
            memcpy(out + i * w + j, done + i * W, lanes * sizeof *in);
    }
    free(in);
}
