#include "native.h"

// In the order of the grid: 2048 warps, each with the elements of its lanes.
void run(const float *restrict x, const float *restrict y, float *restrict sums, long n) {
    static float own[65536];
    memset(own, 0, sizeof own);
    for (long i = 0; i < n; i += 65536) {
        int count = n - i < 65536 ? n - i : 65536;
        for (int t = 0; t < count; t++) {
            float d = x[i + t] - y[i + t];
            own[t] += d * d;
        }
    }
    for (int w = 0; w < 2048; w++) {
        float sum = 0;
        for (int l = 0; l < 32; l++)
            sum += own[32 * w + l];
        sums[w] = sum;
    }
}
