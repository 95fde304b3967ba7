#include "native.h"

void run(const float *restrict x, float *restrict y, int rows, int n) {
    for (int r = 0; r < rows; r++) {
        const float *p = x + (long)r * n;
        float *o = y + (long)r * n;
        float m = -INFINITY, s = 0;
#pragma omp simd reduction(max : m)
        for (int i = 0; i < n; i++)
            m = p[i] > m ? p[i] : m;
#pragma omp simd reduction(+ : s)
        for (int i = 0; i < n; i++) {
            float e = expf(p[i] - m);
            o[i] = e;
            s += e;
        }
        float q = 1 / s;
        for (int i = 0; i < n; i++)
            o[i] *= q;
    }
}
