#include "native.h"

void run(const float *restrict input, const float *restrict weights, float *restrict partial, int hidden, int parts) {
    for (int b = 0; b < parts; b++)
        for (int t = 0; t < 16; t++) {
            float s = 0;
            for (int k = 0; k < 16; k++)
                s += weights[(hidden + 1) * (16 * b + k) + t + hidden + 2] * input[16 * b + k + 1];
            partial[b * hidden + t] = s;
        }
}
