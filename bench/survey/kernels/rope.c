#include "native.h"

void run(float *restrict q, const float *restrict cosines, const float *restrict sines, int heads, int dim, int n) {
    int half = dim / 2;
    for (int t = 0; t < n; t++)
        for (int h = 0; h < heads; h++) {
            float *p = q + (t * heads + h) * dim;
#pragma omp simd
            for (int j = 0; j < half; j++) {
                float a = p[j], b = p[j + half], c = cosines[t * half + j], s = sines[t * half + j];
                p[j] = a * c - b * s;
                p[j + half] = a * s + b * c;
            }
        }
}
