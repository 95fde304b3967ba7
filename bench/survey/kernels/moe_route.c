#include "native.h"

void run(const float *restrict logits, const float *restrict x, const float *restrict scale, int *restrict expert,
         float *restrict weight, int *restrict counts, int *restrict offsets, int *restrict cursor,
         int *restrict slot, float *restrict buffer, float *restrict out, int tokens, int experts, int dim) {
    for (int t = 0; t < tokens; t++) {
        const float *row = logits + (long)t * experts;
        int first = -1, second = -1;
        float best = -1e30f, next = -1e30f;
        for (int e = 0; e < experts; e++) {
            float v = row[e];
            if (v > best) {
                next = best;
                second = first;
                best = v;
                first = e;
            } else if (v > next) {
                next = v;
                second = e;
            }
        }
        float ratio = expf(next - best);
        expert[2 * t] = first;
        expert[2 * t + 1] = second;
        weight[2 * t] = 1 / (1 + ratio);
        weight[2 * t + 1] = ratio / (1 + ratio);
        counts[first]++;
        counts[second]++;
    }
    int sum = 0;
    for (int e = 0; e < experts; e++) {
        offsets[e] = cursor[e] = sum;
        sum += counts[e];
    }
    offsets[experts] = sum;
    for (int t = 0; t < tokens; t++)
        for (int k = 0; k < 2; k++) {
            int place = slot[2 * t + k] = cursor[expert[2 * t + k]]++;
            memcpy(buffer + (long)place * dim, x + (long)t * dim, dim * sizeof(float));
        }
    for (int e = 0; e < experts; e++)
        for (int row = offsets[e]; row < offsets[e + 1]; row++)
#pragma omp simd
            for (int d = 0; d < dim; d++) {
                float v = buffer[(long)row * dim + d] * scale[e * dim + d];
                buffer[(long)row * dim + d] = MAX(v, 0);
            }
    for (int t = 0; t < tokens; t++) {
        const float *a = buffer + (long)slot[2 * t] * dim, *b = buffer + (long)slot[2 * t + 1] * dim;
        float wa = weight[2 * t], wb = weight[2 * t + 1], *to = out + (long)t * dim;
#pragma omp simd
        for (int d = 0; d < dim; d++)
            to[d] = wa * a[d] + wb * b[d];
    }
}
