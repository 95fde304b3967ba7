#include "native.h"
#define WINDOW 512
#define LAGS 256

// Lags in vectors: sums of 256 lags stay in cache while the window goes by, in blocks of 64.
void run(const float *restrict audio, float *restrict pitch, float *restrict clarity, int hop, float rate,
         float threshold, int frames) {
    for (int f = 0; f < frames; f++) {
        const float *x = audio + (long)f * hop;
        float d[LAGS];
        for (int t0 = 0; t0 < LAGS; t0 += 64) {
            float s[64] = {0};
            for (int j = 0; j < WINDOW; j++) {
#pragma omp simd
                for (int t = 0; t < 64; t++) {
                    float e = x[j] - x[j + t0 + t];
                    s[t] += e * e;
                }
            }
            memcpy(d + t0, s, sizeof s);
        }
        float sum = 0;
        for (int t = 0; t < LAGS; t++) {
            sum += d[t];
            d[t] = t ? d[t] * t / fmaxf(sum, 1e-12f) : 1;
        }
        pitch[f] = clarity[f] = 0;
        for (int t = 2; t < LAGS - 1; t++)
            if (d[t] < threshold && d[t] <= d[t + 1] && d[t] < d[t - 1]) {
                float a = d[t - 1], b = d[t], c = d[t + 1], bend = a - 2 * b + c;
                float shift = fabsf(bend) > 1e-9f ? 0.5f * (a - c) / bend : 0;
                pitch[f] = rate / (t + shift);
                clarity[f] = 1 - b;
                break;
            }
    }
}
