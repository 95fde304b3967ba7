#include "native.h"

void run(const float *restrict x, const float *restrict c, float *restrict y, int n, int taps) {
    for (int b = 0; b < n; b += 1024) {
        float t[1024] = {0};
        if (b)
            for (int k = 0; k < taps; k++) {
                float v = c[k];
                for (int i = 0; i < 1024; i++)
                    t[i] += v * x[b + i - k];
            }
        else
            for (int i = 0; i < 1024; i++)
                for (int k = 0; k < taps && k <= i; k++)
                    t[i] += c[k] * x[i - k];
        memcpy(y + b, t, 4096);
    }
}
