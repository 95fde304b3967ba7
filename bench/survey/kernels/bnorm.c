#include "native.h"

void run(const float *restrict a, const float *restrict scale, const float *restrict shift, float *restrict b, int n, int c, int hw) {
    for (int m = 0; m < n * c; m++) {
        float s = scale[m % c], t = shift[m % c];
        for (int p = 0; p < hw; p++) {
            float v = a[m * hw + p] * s + t;
            b[m * hw + p] = v > 0 ? v : 0;
        }
    }
}
