// y[t] = a[t] y[t - 1] + b[t] in many rows, eight of them side by side, as each number needs the one before.
#include "native.h"

enum { W = 8 };

void run(const float *restrict a, const float *restrict b, const float *restrict start, float *restrict y, int length,
         int rows) {
    int r = 0;
    for (; r + W <= rows; r += W) {
        float now[W];
        memcpy(now, start + r, sizeof now);
        for (int t = 0; t < length; t++)
            for (int l = 0; l < W; l++) {
                long i = (long)(r + l) * length + t;
                now[l] = a[i] * now[l] + b[i];
                y[i] = now[l];
            }
    }
    for (; r < rows; r++) {
        float now = start[r];
        for (int t = 0; t < length; t++) {
            long i = (long)r * length + t;
            now = a[i] * now + b[i];
            y[i] = now;
        }
    }
}
