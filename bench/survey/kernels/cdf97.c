#include "native.h"

static const float lift[4] = {-1.586134342f, -0.05298011854f, 0.8829110762f, 0.4435068522f};
static const float gain = 1.149604398f;

// a[i] += f * (b[i] + b[i + 1]), where one of the ends is its neighbour twice.
static void rows_of(float *restrict row, float *restrict even, float *restrict odd, int w) {
    int ne = (w + 1) / 2, no = w / 2;
    for (int i = 0; i < no; i++)
        even[i] = row[2 * i], odd[i] = row[2 * i + 1];
    if (ne > no)
        even[no] = row[w - 1];
    for (int s = 0; s < 4; s += 2) {
        float f = lift[s], g = lift[s + 1];
        if (ne == no)
            even[ne] = even[ne - 1];
#pragma omp simd
        for (int i = 0; i < no; i++)
            odd[i] += f * (even[i] + even[i + 1]);
        even[0] += g * 2 * odd[0];
#pragma omp simd
        for (int i = 1; i < no; i++)
            even[i] += g * (odd[i - 1] + odd[i]);
        if (ne > no)
            even[no] += g * 2 * odd[no - 1];
    }
    for (int i = 0; i < ne; i++)
        row[i] = even[i] * (1 / gain);
    for (int i = 0; i < no; i++)
        row[ne + i] = odd[i] * gain;
}

// Stripes of 64 columns that stay in cache.
static void columns_of(float *restrict image, float *restrict own, int pitch, int w, int h) {
    int half = (h + 1) / 2;
    for (int x0 = 0; x0 < w; x0 += 64) {
        int n = MIN(64, w - x0);
        for (int y = 0; y < h; y++)
            memcpy(own + 64 * y, image + (size_t)y * pitch + x0, n * sizeof(float));
        for (int s = 0; s < 4; s++)
            for (int y = 1 - (s & 1); y < h; y += 2) {
                const float *a = own + 64 * (y ? y - 1 : 1), *b = own + 64 * (y + 1 < h ? y + 1 : h - 2);
                float *to = own + 64 * y, f = lift[s];
#pragma omp simd
                for (int x = 0; x < 64; x++)
                    to[x] += f * (a[x] + b[x]);
            }
        for (int y = 0; y < h; y++) {
            const float *from = own + 64 * (y < half ? 2 * y : 2 * (y - half) + 1);
            float *to = image + (size_t)y * pitch + x0, f = y < half ? 1 / gain : gain;
            for (int x = 0; x < n; x++)
                to[x] = from[x] * f;
        }
    }
}

void run(float *restrict image, int w, int h, int levels) {
    float *own = calloc(64L * h + 2 * w + 8, sizeof(float));
    int pitch = w;
    for (int l = 0; l < levels; l++, w = (w + 1) / 2, h = (h + 1) / 2) {
        for (int y = 0; y < h; y++)
            rows_of(image + (size_t)y * pitch, own, own + w + 2, w);
        columns_of(image, own, pitch, w, h);
    }
    free(own);
}
