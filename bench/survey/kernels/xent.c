#include "native.h"

void run(float *restrict logits, float *restrict losses, const int *restrict targets, int rows, int v) {
    for (int r = 0; r < rows; r++) {
        float *x = logits + (long)r * v, top = x[0], sum = 0;
#pragma omp simd reduction(max : top)
        for (int i = 0; i < v; i++)
            top = MAX(top, x[i]);
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < v; i++)
            sum += expf(x[i] - top);
        losses[r] = logf(sum) + top - x[targets[r]];
#pragma omp simd
        for (int i = 0; i < v; i++)
            x[i] = (expf(x[i] - top) / sum - (i == targets[r] ? 1.0f : 0.0f)) / rows;
    }
}
