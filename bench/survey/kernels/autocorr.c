#include "native.h"

void run(const float *restrict x, float *restrict r, int n, int most) {
    for (int lag = 0; lag < most; lag++) {
        float s = 0;
#pragma omp simd reduction(+ : s)
        for (int i = 0; i < n - lag; i++)
            s += x[i] * x[i + lag];
        r[lag] = s;
    }
}
