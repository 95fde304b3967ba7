// MFCC: an FFT of 512 with real and imaginary parts apart, so that butterflies are vectors from the third stage on.
#include "native.h"

enum { FRAME = 400, HOP = 160, N = 512, BITS = 9, BANDS = 40, CEPSTRA = 13 };

void run(const short *restrict samples, const float *restrict window, const float *restrict twiddle,
         const int *restrict bands, const float *restrict band_weight, const float *restrict dct, float *restrict out,
         float *restrict mean, int frames, float emphasis) {
    float wr[BITS][N / 2], wi[BITS][N / 2], re[N], im[N], power[N / 2 + 1], mel[BANDS];
    short place[N];
    for (int s = 0; s < BITS; s++)
        for (int j = 0; j < 1 << s; j++) {
            wr[s][j] = twiddle[2 * (j << (BITS - 1 - s))];
            wi[s][j] = twiddle[2 * (j << (BITS - 1 - s)) + 1];
        }
    for (int i = 0; i < N; i++) {
        int r = 0;
        for (int b = 0; b < BITS; b++)
            r |= (i >> b & 1) << (BITS - 1 - b);
        place[i] = r;
    }
    memset(mean, 0, CEPSTRA * sizeof(float));
    for (int f = 0; f < frames; f++) {
        const short *from = samples + (long)f * HOP;
        memset(re, 0, sizeof re);
        memset(im, 0, sizeof im);
        for (int i = 0; i < FRAME; i++)
            re[place[i]] = (from[i] - emphasis * from[i ? i - 1 : 0]) * (1 / 32768.0f) * window[i];
        for (int s = 0; s < BITS; s++) {
            int half = 1 << s;
            for (int first = 0; first < N; first += 2 * half) {
                float *restrict ar = re + first, *restrict ai = im + first;
                float *restrict br = re + first + half, *restrict bi = im + first + half;
#pragma omp simd
                for (int j = 0; j < half; j++) {
                    float r = br[j] * wr[s][j] - bi[j] * wi[s][j], i = br[j] * wi[s][j] + bi[j] * wr[s][j];
                    br[j] = ar[j] - r;
                    bi[j] = ai[j] - i;
                    ar[j] += r;
                    ai[j] += i;
                }
            }
        }
        for (int i = 0; i <= N / 2; i++)
            power[i] = re[i] * re[i] + im[i] * im[i];
        for (int m = 0; m < BANDS; m++) {
            const float *p = power + bands[3 * m], *w = band_weight + bands[3 * m + 2];
            float sum = 0;
            for (int i = 0; i < bands[3 * m + 1]; i++)
                sum += p[i] * w[i];
            mel[m] = logf(fmaxf(sum, 1e-10f));
        }
        for (int c = 0; c < CEPSTRA; c++) {
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int m = 0; m < BANDS; m++)
                sum += dct[c * BANDS + m] * mel[m];
            out[f * CEPSTRA + c] = sum;
            mean[c] += sum;
        }
    }
    for (int c = 0; c < CEPSTRA; c++)
        mean[c] /= frames;
    for (int f = 0; f < frames; f++)
        for (int c = 0; c < CEPSTRA; c++)
            out[f * CEPSTRA + c] -= mean[c];
}
