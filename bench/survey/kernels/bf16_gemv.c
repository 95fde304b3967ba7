#include "native.h"

static inline float wide(uint16_t v) {
    uint b = (uint)v << 16;
    float f;
    memcpy(&f, &b, 4);
    return f;
}

static inline uint16_t narrow(float f) {
    uint b;
    memcpy(&b, &f, 4);
    return (b + 0x7fff + (b >> 16 & 1)) >> 16;
}

void run(const uint16_t *restrict a, const uint16_t *restrict x, const uint16_t *restrict bias, uint16_t *restrict y,
         int rows, int cols) {
    float *xs = malloc(cols * sizeof *xs);
    for (int i = 0; i < cols; i++)
        xs[i] = wide(x[i]);
    int r = 0;
    // four rows at a time: sums that do not wait for each other
    for (; r + 4 <= rows; r += 4) {
        const uint16_t *a0 = a + (long)r * cols, *a1 = a0 + cols, *a2 = a1 + cols, *a3 = a2 + cols;
        float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
        for (int i = 0; i < cols; i++) {
            s0 += wide(a0[i]) * xs[i];
            s1 += wide(a1[i]) * xs[i];
            s2 += wide(a2[i]) * xs[i];
            s3 += wide(a3[i]) * xs[i];
        }
        y[r] = narrow(s0 + wide(bias[r]));
        y[r + 1] = narrow(s1 + wide(bias[r + 1]));
        y[r + 2] = narrow(s2 + wide(bias[r + 2]));
        y[r + 3] = narrow(s3 + wide(bias[r + 3]));
    }
    for (; r < rows; r++) {
        float s = 0;
#pragma omp simd reduction(+ : s)
        for (int i = 0; i < cols; i++)
            s += wide(a[(long)r * cols + i]) * xs[i];
        y[r] = narrow(s + wide(bias[r]));
    }
    free(xs);
}
