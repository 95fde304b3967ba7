// Attention over a window with ALiBi: keys of a head are turned once, so that scores of many keys are one loop.
#include "native.h"
enum { DIM = 64 };

void run(const float *restrict q, const float *restrict k, const float *restrict v, float *restrict out, int length,
         int window, float scale, int heads) {
    float *turned = malloc((long)DIM * length * sizeof *turned), *s = malloc(window * sizeof *s);
    for (int head = 0; head < heads; head++) {
        long base = (long)head * length * DIM;
        float slope = exp2f(-8.0f * (head + 1) / heads);
        for (int j = 0; j < length; j++)
            for (int d = 0; d < DIM; d++)
                turned[(long)d * length + j] = k[base + (long)j * DIM + d];
        for (int i = 0; i < length; i++) {
            const float *query = q + base + (long)i * DIM;
            int first = MAX(0, i - window + 1), count = i - first + 1;
#pragma omp simd
            for (int j = 0; j < count; j++)
                s[j] = -slope * (count - 1 - j);
            for (int d = 0; d < DIM; d += 4) {
                const float *t0 = turned + (long)d * length + first, *t1 = t0 + length, *t2 = t1 + length,
                            *t3 = t2 + length;
                float q0 = query[d] * scale, q1 = query[d + 1] * scale, q2 = query[d + 2] * scale,
                      q3 = query[d + 3] * scale;
#pragma omp simd
                for (int j = 0; j < count; j++)
                    s[j] += q0 * t0[j] + q1 * t1[j] + q2 * t2[j] + q3 * t3[j];
            }
            float best = -INFINITY, sum = 0, acc[DIM] = {0};
#pragma omp simd reduction(max : best)
            for (int j = 0; j < count; j++)
                best = MAX(best, s[j]);
#pragma omp simd reduction(+ : sum)
            for (int j = 0; j < count; j++) {
                s[j] = expf(s[j] - best);
                sum += s[j];
            }
            for (int j = 0; j < count; j++) {
                const float *row = v + base + (long)(first + j) * DIM;
                float p = s[j];
#pragma omp simd
                for (int d = 0; d < DIM; d++)
                    acc[d] += p * row[d];
            }
            float inverse = 1 / sum;
#pragma omp simd
            for (int d = 0; d < DIM; d++)
                out[base + (long)i * DIM + d] = acc[d] * inverse;
        }
    }
    free(turned);
    free(s);
}
