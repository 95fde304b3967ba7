// Channels filtered and thinned to a quarter: samples dealt out into four lists, so that sums run over neighbours
#include "native.h"
typedef float Vector __attribute__((vector_size(64), aligned(4), may_alias));
enum { TAPS = 64, BY = 4, CHUNK = 256, LANES = CHUNK + TAPS / BY };

void run(const float *restrict x, const float *restrict taps, float *restrict y, int length, int outputs,
         int channels) {
    for (int c = 0; c < channels; c++)
        for (int first = 0; first < outputs; first += CHUNK) {
            const float *restrict from = x + (size_t)c * length + (size_t)first * BY;
            float *restrict to = y + (size_t)c * outputs + first, lanes[BY][LANES];
            int count = MIN(CHUNK, outputs - first), inputs = count + TAPS / BY - 1;
            for (int i = 0; i < inputs; i++)
                for (int k = 0; k < BY; k++)
                    lanes[k][i] = from[i * BY + k];
            int i = 0;
            for (; i + 64 <= count; i += 64) {
                Vector sum[4] = {0};
                for (int k = 0; k < TAPS; k++) {
                    const Vector *lane = (const Vector *)(lanes[k % BY] + i + k / BY);
#pragma GCC unroll 4
                    for (int j = 0; j < 4; j++)
                        sum[j] += taps[k] * lane[j];
                }
                memcpy(to + i, sum, sizeof sum);
            }
            for (; i < count; i++) {
                float sum = 0;
                for (int k = 0; k < TAPS; k++)
                    sum += taps[k] * lanes[k % BY][i + k / BY];
                to[i] = sum;
            }
        }
}
