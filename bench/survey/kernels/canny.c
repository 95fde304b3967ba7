#include "native.h"

static const float gauss[5][5] = {
    {2, 4, 5, 4, 2}, {4, 9, 12, 9, 4}, {5, 12, 15, 12, 5}, {4, 9, 12, 9, 4}, {2, 4, 5, 4, 2}};

static void blur(const uchar *restrict image, float *restrict to, int w, int h) {
    int line = w + 4;
    float *wide = malloc((long)line * (h + 4) * sizeof *wide);
    for (int y = 0; y < h + 4; y++) {
        const uchar *from = image + (long)MIN(MAX(y - 2, 0), h - 1) * w;
        float *row = wide + (long)y * line;
        for (int x = 0; x < w; x++)
            row[x + 2] = from[x];
        row[0] = row[1] = from[0];
        row[w + 2] = row[w + 3] = from[w - 1];
    }
    for (int y = 0; y < h; y++) {
        const float *from = wide + (long)y * line;
#pragma omp simd
        for (int x = 0; x < w; x++) {
            float sum = 0;
#pragma GCC unroll 5
            for (int i = 0; i < 5; i++)
#pragma GCC unroll 5
                for (int j = 0; j < 5; j++)
                    sum += gauss[i][j] * from[i * line + x + j];
            to[(long)y * w + x] = sum / 159;
        }
    }
    free(wide);
}

// Sectors of 45 degrees by comparisons with the tangents of their borders.
static void gradient(const float *restrict from, float *restrict magnitude, uchar *restrict direction, int w, int h) {
    memset(magnitude, 0, (long)w * h * sizeof *magnitude);
    memset(direction, 0, (long)w * h);
    for (int y = 1; y < h - 1; y++) {
        const float *a = from + (long)(y - 1) * w, *b = a + w, *c = b + w;
#pragma omp simd
        for (int x = 1; x < w - 1; x++) {
            float gx = a[x + 1] + 2 * b[x + 1] + c[x + 1] - a[x - 1] - 2 * b[x - 1] - c[x - 1];
            float gy = c[x - 1] + 2 * c[x] + c[x + 1] - a[x - 1] - 2 * a[x] - a[x + 1];
            float ax = fabsf(gx), ay = fabsf(gy);
            int slanted = gx * gy > 0 ? 1 : 3;
            slanted = ay > 2.41421356f * ax ? 2 : slanted;
            direction[(long)y * w + x] = ay < 0.41421356f * ax || ay + ax == 0 ? 0 : slanted;
            magnitude[(long)y * w + x] = sqrtf(gx * gx + gy * gy);
        }
    }
}

static void suppress(const float *restrict magnitude, const uchar *restrict direction, uchar *restrict edges, int w,
                     int h, float low, float high) {
    memset(edges, 0, (long)w * h);
    for (int y = 1; y < h - 1; y++) {
        const float *a = magnitude + (long)(y - 1) * w, *b = a + w, *c = b + w;
#pragma omp simd
        for (int x = 1; x < w - 1; x++) {
            int d = direction[(long)y * w + x];
            float p = d == 0 ? b[x - 1] : d == 1 ? a[x - 1] : d == 2 ? a[x] : a[x + 1];
            float q = d == 0 ? b[x + 1] : d == 1 ? c[x + 1] : d == 2 ? c[x] : c[x - 1], m = b[x];
            edges[(long)y * w + x] = m >= p && m >= q ? (m >= low) + (m >= high) : 0;
        }
    }
}

// The border has no edges.
static void grow(const uchar *restrict edges, uchar *restrict next, int w, int h) {
    memset(next, 0, w);
    memset(next + (long)(h - 1) * w, 0, w);
    for (int y = 1; y < h - 1; y++) {
        const uchar *a = edges + (long)(y - 1) * w, *b = a + w, *c = b + w;
        uchar *to = next + (long)y * w;
        to[0] = to[w - 1] = 0;
#pragma omp simd
        for (int x = 1; x < w - 1; x++) {
            uchar most = MAX(MAX(a[x - 1], a[x]), a[x + 1]);
            most = MAX(MAX(most, b[x - 1]), b[x + 1]);
            most = MAX(MAX(most, c[x - 1]), MAX(c[x], c[x + 1]));
            to[x] = b[x] == 1 && most == 2 ? 2 : b[x];
        }
    }
}

void run(const uchar *image, float *blurred, float *magnitude, uchar *direction, uchar *edges, uchar *next, uchar *out,
         int w, int h, float low, float high, int rounds) {
    blur(image, blurred, w, h);
    gradient(blurred, magnitude, direction, w, h);
    suppress(magnitude, direction, edges, w, h, low, high);
    for (int r = 0; r < rounds; r += 2) {
        grow(edges, next, w, h);
        grow(next, edges, w, h);
    }
    for (long i = 0; i < (long)w * h; i++)
        out[i] = edges[i] == 2 ? 255 : 0;
}
