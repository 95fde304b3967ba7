#include "native.h"

void run(const float *restrict x, float *restrict y, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++) {
        float v = x[i];
        y[i] = 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
    }
}
