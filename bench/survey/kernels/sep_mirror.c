// A Gaussian of eleven taps on pictures of four channels: lines with mirrored ends, then sums of lines.
#include "native.h"

enum { R = 5 };

static const float taps[R + 1] = {0.19949f, 0.17603f, 0.12094f, 0.06470f, 0.02694f, 0.01172f};

static int mirrored(int i, int n) {
    while (i < 0 || i >= n)
        i = i < 0 ? -i - 1 : 2 * n - 1 - i;
    return i;
}

void run(const uchar *restrict in, float *restrict mid, uchar *restrict out, int w, int h) {
    float *line = malloc(4 * (w + 2 * R) * sizeof *line), *sum = malloc(4 * w * sizeof *sum);
    for (int y = 0; y < h; y++) {
        const uchar *from = in + 4L * y * w;
        float *restrict to = mid + 4L * y * w;
        for (int i = 0; i < 4 * w; i++)
            line[4 * R + i] = from[i];
        for (int x = 0; x < R; x++)
            for (int c = 0; c < 4; c++) {
                line[4 * x + c] = from[4 * mirrored(x - R, w) + c];
                line[4 * (R + w + x) + c] = from[4 * mirrored(w + x, w) + c];
            }
        const float *at = line + 4 * R;
#pragma omp simd
        for (int i = 0; i < 4 * w; i++) {
            float s = taps[0] * at[i];
            for (int r = 1; r <= R; r++)
                s += taps[r] * (at[i - 4 * r] + at[i + 4 * r]);
            to[i] = s;
        }
    }
    for (int y = 0; y < h; y++) {
        const float *rows[2 * R + 1];
        for (int r = -R; r <= R; r++)
            rows[R + r] = mid + 4L * w * mirrored(y + r, h);
#pragma omp simd
        for (int i = 0; i < 4 * w; i++) {
            float s = taps[0] * rows[R][i];
            for (int r = 1; r <= R; r++)
                s += taps[r] * (rows[R - r][i] + rows[R + r][i]);
            sum[i] = s;
        }
        for (int i = 0; i < 4 * w; i++) {
            int v = (int)rintf(sum[i]);
            out[4L * y * w + i] = v < 0 ? 0 : v > 255 ? 255 : v;
        }
    }
    free(line);
    free(sum);
}
