#include "native.h"

void run(const float *restrict x, float *restrict y, float *restrict greatest, int n) {
    for (int s = 0; s < n; s += 16) {
        float sums[16], most = x[s], sum = 0;
        int m = MIN(16, n - s);
        for (int i = 0; i < m; i++) {
            most = MAX(most, x[s + i]);
            sum += x[s + i];
            sums[i] = sum;
        }
        for (int i = 0; i < m; i++)
            y[s + i] = sums[i] / sum;
        greatest[s / 16] = most;
    }
}
