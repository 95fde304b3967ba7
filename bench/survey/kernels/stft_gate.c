// Noise gate by short Fourier transforms of 16 frames side by side, then overlap-add.
#include "native.h"

enum { FRAME = 256, HOP = 64, LOG = 8, W = 16 };

static void fft(float (*restrict re)[W], float (*restrict im)[W], const float *restrict roots, float sign) {
    for (int half = 1; half < FRAME; half *= 2)
        for (int group = 0; group < FRAME; group += 2 * half)
            for (int j = 0; j < half; j++) {
                float c = roots[2 * j * (FRAME / 2 / half)], s = sign * roots[2 * j * (FRAME / 2 / half) + 1];
                float *r0 = re[group + j], *i0 = im[group + j], *r1 = re[group + j + half], *i1 = im[group + j + half];
#pragma omp simd
                for (int l = 0; l < W; l++) {
                    float br = r1[l] * c - i1[l] * s, bi = r1[l] * s + i1[l] * c;
                    r1[l] = r0[l] - br;
                    i1[l] = i0[l] - bi;
                    r0[l] += br;
                    i0[l] += bi;
                }
            }
}

void run(const float *restrict signal, const float *restrict window, const float *restrict roots,
         const float *restrict noise, float *restrict frames, float *restrict out, int samples, int count,
         float strength, float floor) {
    static float re[FRAME][W], im[FRAME][W], re2[FRAME][W], im2[FRAME][W];
    int reversed[FRAME];
    for (int i = 0; i < FRAME; i++) {
        reversed[i] = 0;
        for (int b = 0; b < LOG; b++)
            reversed[i] |= (i >> b & 1) << (LOG - 1 - b);
    }
    for (int first = 0; first < count; first += W) {
        int lanes = MIN(W, count - first);
        for (int l = 0; l < lanes; l++)
            for (int i = 0; i < FRAME; i++) {
                int at = (first + l) * HOP + i;
                re[reversed[i]][l] = at < samples ? signal[at] * window[i] : 0;
            }
        memset(im, 0, sizeof im);
        fft(re, im, roots, 1);
        for (int i = 0; i < FRAME; i++) {
            float n = strength * noise[MIN(i, FRAME - i)];
            int to = reversed[i];
#pragma omp simd
            for (int l = 0; l < W; l++) {
                float power = re[i][l] * re[i][l] + im[i][l] * im[i][l], gain = 1 - n / (power + 1e-12f);
                gain = sqrtf(gain > floor ? gain : floor);
                re2[to][l] = re[i][l] * gain;
                im2[to][l] = im[i][l] * gain;
            }
        }
        fft(re2, im2, roots, -1);
        for (int l = 0; l < lanes; l++)
            for (int i = 0; i < FRAME; i++)
                frames[(first + l) * FRAME + i] = re2[i][l] * (1.0f / FRAME) * window[i];
    }
    for (int block = 0; block < samples; block += HOP) {
        int last = MIN(block / HOP, count - 1), from = MAX(0, (block - FRAME + HOP) / HOP);
        float sum[HOP] = {0}, weight[HOP] = {0};
        for (int f = from; f <= last; f++) {
            int at = block - f * HOP;
            if (at < FRAME)
#pragma omp simd
                for (int i = 0; i < HOP; i++) {
                    sum[i] += frames[f * FRAME + at + i];
                    weight[i] += window[at + i] * window[at + i];
                }
        }
        for (int i = 0; i < MIN(HOP, samples - block); i++)
            out[block + i] = weight[i] > 1e-6f ? sum[i] / weight[i] : 0;
    }
}
