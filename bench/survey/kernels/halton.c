#include "native.h"

void run(float *restrict o, int n) {
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < n; i++) {
            int base = d ? 5 : 3;
            float f = 1, r = 0;
            for (int k = i + 1; k > 0; k /= base) {
                f /= base;
                r += f * (k % base);
            }
            o[d * n + i] = r;
        }
}
