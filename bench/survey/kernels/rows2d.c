#include "native.h"

void run(const float *restrict in, float *restrict out, int rows, int columns) {
    for (int r = 0; r < rows; r++) {
        float s = 0;
#pragma omp simd reduction(+ : s)
        for (int k = 0; k < columns; k++)
            s += in[r * columns + k] * in[r * columns + k];
        out[r] = sqrtf(s);
    }
}
