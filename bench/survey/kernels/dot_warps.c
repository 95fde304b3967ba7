#include "native.h"

void run(const float *restrict a, const float *restrict b, float *restrict sum, int n) {
    float s = 0;
#pragma omp simd reduction(+ : s)
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    *sum = s;
}
