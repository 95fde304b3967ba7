// Bicubic interpolation and its gradient: places and weights of a row's pixels once, rows first, then columns.
#include "native.h"

static void taps(float scale, int out, int in, int n, int *place, float *weight) {
    float real = scale * (out + 0.5f) - 0.5f;
    int first = floorf(real);
    float t = real - first, a = -0.75f, d[4] = {t + 1, t, 1 - t, 2 - t};
    for (int k = 0; k < 4; k++) {
        float x = d[k];
        place[k * n] = MAX(MIN(first - 1 + k, in - 1), 0);
        weight[k * n] = k == 1 || k == 2 ? ((a + 2) * x - (a + 3)) * x * x + 1
                                         : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
    }
}

void run(const float *restrict idata, const float *restrict grad_out, float *restrict odata, float *restrict grad_in,
         float height_scale, float width_scale, int planes, int in_h, int in_w, int out_h, int out_w) {
    int *px = malloc(4 * out_w * sizeof(int)), py[4];
    float *wx = malloc(4 * out_w * sizeof(float)), wy[4], *row = malloc(in_w * sizeof(float));
    for (int x = 0; x < out_w; x++)
        taps(width_scale, x, in_w, out_w, px + x, wx + x);
    memset(grad_in, 0, (size_t)planes * in_h * in_w * sizeof(float));
    for (int p = 0; p < planes; p++) {
        const float *in = idata + (size_t)p * in_h * in_w;
        float *back = grad_in + (size_t)p * in_h * in_w;
        for (int y = 0; y < out_h; y++) {
            taps(height_scale, y, in_h, 1, py, wy);
            const float *a = in + py[0] * in_w, *b = in + py[1] * in_w, *c = in + py[2] * in_w, *d = in + py[3] * in_w;
            for (int x = 0; x < in_w; x++)
                row[x] = wy[0] * a[x] + wy[1] * b[x] + wy[2] * c[x] + wy[3] * d[x];
            float *out = odata + ((size_t)p * out_h + y) * out_w;
#pragma omp simd
            for (int x = 0; x < out_w; x++)
                out[x] = wx[x] * row[px[x]] + wx[out_w + x] * row[px[out_w + x]] +
                         wx[2 * out_w + x] * row[px[2 * out_w + x]] + wx[3 * out_w + x] * row[px[3 * out_w + x]];
            const float *g = grad_out + ((size_t)p * out_h + y) * out_w;
            memset(row, 0, in_w * sizeof(float));
            for (int x = 0; x < out_w; x++)
                for (int k = 0; k < 4; k++)
                    row[px[k * out_w + x]] += g[x] * wx[k * out_w + x];
            for (int k = 0; k < 4; k++) {
                float *to = back + py[k] * in_w;
                for (int x = 0; x < in_w; x++)
                    to[x] += wy[k] * row[x];
            }
        }
    }
    free(px);
    free(wx);
    free(row);
}
