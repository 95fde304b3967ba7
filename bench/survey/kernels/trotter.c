#include "native.h"

// A wave function on a plane by turns of pairs; a row's turns across follow those down while it is in the cache.
static void down(float *restrict re, float *restrict im, int w, float a, float b) {
#pragma omp simd
    for (int x = 0; x < w; x++) {
        float r = re[x], i = im[x], s = re[w + x], j = im[w + x];
        re[x] = a * r - b * j;
        im[x] = a * i + b * s;
        re[w + x] = a * s - b * i;
        im[w + x] = a * j + b * r;
    }
}

static void across(float *restrict re, float *restrict im, int first, int w, float a, float b) {
    int pairs = (w - first) / 2;
    re += first;
    im += first;
#pragma omp simd
    for (int k = 0; k < pairs; k++) {
        float r = re[2 * k], i = im[2 * k], s = re[2 * k + 1], j = im[2 * k + 1];
        re[2 * k] = a * r - b * j;
        im[2 * k] = a * i + b * s;
        re[2 * k + 1] = a * s - b * i;
        im[2 * k + 1] = a * j + b * r;
    }
}

void run(float *restrict re, float *restrict im,
         const float *restrict phase_re, const float *restrict phase_im, float a, float b, int w, int h, int steps) {
    for (int step = 0; step < steps; step++) {
        for (int y = 0; y < h; y += 2) {
            if (y + 1 < h)
                down(re + (size_t)y * w, im + (size_t)y * w, w, a, b);
            for (int k = y; k < MIN(y + 2, h); k++)
                across(re + (size_t)k * w, im + (size_t)k * w, 0, w, a, b);
        }
        for (int y = -1; y < h; y += 2) {
            if (y >= 0 && y + 1 < h)
                down(re + (size_t)y * w, im + (size_t)y * w, w, a, b);
            for (int k = MAX(y, 0); k < MIN(y + 2, h); k++) {
                size_t at = (size_t)k * w;
                across(re + at, im + at, 1, w, a, b);
#pragma omp simd
                for (size_t i = at; i < at + w; i++) {
                    float r = re[i], q = im[i];
                    re[i] = phase_re[i] * r - phase_im[i] * q;
                    im[i] = phase_re[i] * q + phase_im[i] * r;
                }
            }
        }
    }
}
