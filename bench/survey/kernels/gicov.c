// Gradients, GICOV scores by circles and a dilation: each a row at a time, the points of a circle outside.
#include "native.h"
enum { POINTS = 32, RADII = 4, MARGIN = 14, STREL = 11, HALF = STREL / 2 };

static const float SIN[8] = {0, 0.195090322f, 0.382683432f, 0.555570233f, 0.707106781f, 0.831469612f, 0.923879533f,
                             0.980785280f};

static float sine(int n) {
    n &= 31;
    if (n >= 16)
        return -sine(n - 16);
    return n < 8 ? SIN[n] : n == 8 ? 1 : SIN[16 - n];
}

void run(const uchar *restrict frame, const uchar *restrict strel, float *restrict grad_x, float *restrict grad_y,
         float *restrict score, float *restrict dilated, int w, int h) {
    for (int y = 0; y < h; y++) {
        const uchar *row = frame + y * w, *up = frame + MAX(y - 1, 0) * w, *down = frame + MIN(y + 1, h - 1) * w;
        for (int x = 0; x < w; x++)
            grad_y[y * w + x] = 0.5f * (down[x] - up[x]);
        for (int x = 1; x < w - 1; x++)
            grad_x[y * w + x] = 0.5f * (row[x + 1] - row[x - 1]);
        grad_x[y * w] = 0.5f * (row[1] - row[0]);
        grad_x[y * w + w - 1] = 0.5f * (row[w - 1] - row[w - 2]);
    }
    memset(score, 0, sizeof(float) * w * h);
    int inside = w - 2 * MARGIN;
    float *own = malloc(sizeof(float) * (POINTS + 2) * MAX(inside, 1));
    float *restrict sum = own + (long)POINTS * inside, *restrict squares = sum + inside;
    for (int y = MARGIN; y < h - MARGIN; y++)
        for (int k = 0; k < RADII; k++) {
            int radius = 8 + 2 * k;
            float *restrict best = score + y * w + MARGIN;
            memset(sum, 0, sizeof(float) * 2 * inside);
            for (int n = 0; n < POINTS; n++) {
                float c = sine(n + 8), s = sine(n), *restrict along = own + (long)n * inside;
                long at = (y + lrintf(radius * s)) * w + MARGIN + lrintf(radius * c);
                const float *restrict gx = grad_x + at, *restrict gy = grad_y + at;
#pragma omp simd
                for (int x = 0; x < inside; x++) {
                    along[x] = gx[x] * c + gy[x] * s;
                    sum[x] += along[x];
                }
            }
            for (int x = 0; x < inside; x++)
                sum[x] /= POINTS;
            for (int n = 0; n < POINTS; n++) {
                const float *restrict along = own + (long)n * inside;
#pragma omp simd
                for (int x = 0; x < inside; x++) {
                    float d = along[x] - sum[x];
                    squares[x] += d * d;
                }
            }
#pragma omp simd
            for (int x = 0; x < inside; x++) {
                float value = sum[x] * sum[x] / (squares[x] / (POINTS - 1));
                best[x] = value > best[x] ? value : best[x];
            }
        }
    free(own);
    memset(dilated, 0, sizeof(float) * w * h);
    for (int y = 0; y < h; y++)
        for (int i = MAX(0, HALF - y); i < MIN(STREL, h + HALF - y); i++)
            for (int j = 0; j < STREL; j++) {
                if (!strel[i * STREL + j])
                    continue;
                const float *restrict from = score + (y - HALF + i) * w - HALF + j;
                float *restrict to = dilated + y * w;
#pragma omp simd
                for (int x = MAX(0, HALF - j); x < MIN(w, w + HALF - j); x++)
                    to[x] = from[x] > to[x] ? from[x] : to[x];
            }
}
