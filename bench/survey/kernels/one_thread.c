#include "native.h"

void run(const float *restrict in, float *restrict out, float *restrict sum, float value, int n) {
    float s = 0.0f;
    for (int i = 0; i < n; i++)
        out[i] = value * i;
#pragma omp simd reduction(+ : s)
    for (int i = 0; i < n; i++)
        s += in[i];
    *sum = s;
}
