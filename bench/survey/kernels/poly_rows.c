#include "native.h"

void run(const float *restrict x, float *restrict y, const float *restrict c, int n, int length, int degree) {
#pragma omp simd
    for (int i = 0; i < n; i++) {
        float r = c[degree];
        for (int k = degree - 1; k >= 0; k--)
            r = r * x[i] + c[k];
        y[i] = r;
    }
}
