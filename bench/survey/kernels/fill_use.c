#include "native.h"

void run(const float *restrict in, const float *restrict weights, float *restrict out, int tiles, int blocks) {
    for (int b = 0; b < blocks; b++) {
        float *sums = out + b * 128;
        for (int t = 0; t < 128; t++)
            sums[t] = 0;
        for (int k = 0; k < tiles; k++) {
            const float *tile = in + (b * tiles + k) * 256;
            for (int t = 0; t < 128; t++)
                sums[t] += tile[t] * weights[t] + tile[t + 128] * weights[(t + 1) & 127] + tile[(t * 5) & 255];
        }
    }
}
