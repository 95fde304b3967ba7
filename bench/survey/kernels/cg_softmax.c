#include "native.h"

void run(const float *restrict logits, const int *restrict labels, float *restrict probs, float *restrict loss,
         int *restrict predicted, int rows, int classes) {
    for (int row = 0; row < rows; row++) {
        const float *restrict x = logits + (size_t)row * classes;
        float *restrict p = probs + (size_t)row * classes;
        float best = -INFINITY, sum = 0;
#pragma omp simd reduction(max : best)
        for (int c = 0; c < classes; c++)
            best = x[c] > best ? x[c] : best;
        int where = 0;
        while (x[where] != best)
            where++;
#pragma omp simd reduction(+ : sum)
        for (int c = 0; c < classes; c++) {
            float e = expf(x[c] - best);
            p[c] = e;
            sum += e;
        }
        float inv = 1 / sum;
#pragma omp simd
        for (int c = 0; c < classes; c++)
            p[c] *= inv;
        loss[row] = logf(sum) - (x[labels[row]] - best);
        predicted[row] = where;
    }
}
