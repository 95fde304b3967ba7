// A filter of a complex signal with decimation by four.
#include "native.h"

enum { DECIMATION = 4, TAPS = 48, W = 16 };

void run(const float *restrict signal, const float *restrict taps, float *restrict out, int outputs) {
    for (int first = 0; first < outputs; first += W) {
        float re[W] = {0}, im[W] = {0};
        int lanes = MIN(W, outputs - first);
        const float *x = signal + 2 * DECIMATION * (size_t)first;
        if (lanes == W) {
            for (int k = 0; k < TAPS; k++)
#pragma omp simd
                for (int i = 0; i < W; i++) {
                    re[i] += taps[k] * x[2 * (DECIMATION * i + k)];
                    im[i] += taps[k] * x[2 * (DECIMATION * i + k) + 1];
                }
        } else {
            for (int i = 0; i < lanes; i++)
                for (int k = 0; k < TAPS; k++) {
                    re[i] += taps[k] * x[2 * (DECIMATION * i + k)];
                    im[i] += taps[k] * x[2 * (DECIMATION * i + k) + 1];
                }
        }
        for (int i = 0; i < lanes; i++)
            out[2 * (first + i)] = re[i], out[2 * (first + i) + 1] = im[i];
    }
}
