#include "native.h"

__attribute__((simd("notinbranch"))) extern float cosf(float);

enum { DIMS = 64 };

void run(float *restrict position, float *restrict velocity, float *restrict own_best, float *restrict own_value,
         float *restrict global_best, float *restrict global_value, uint *restrict seeds, int particles, int dims,
         float inertia, float c1, float c2, float limit, int rounds) {
    for (int round = 0; round < rounds; round++) {
        int best = -1;
        float value = global_value[0];
        for (int p = 0; p < particles; p++) {
            float *x = position + (long)p * dims, *v = velocity + (long)p * dims, *own = own_best + (long)p * dims;
            float r1[DIMS], r2[DIMS], sum = 10 * dims;
            uint state = seeds[p];
            for (int d = 0; d < dims; d++) {
                state = state * 1664525u + 1013904223u;
                r1[d] = (int)(state >> 8) * (1.0f / 16777216);
                state = state * 1664525u + 1013904223u;
                r2[d] = (int)(state >> 8) * (1.0f / 16777216);
            }
            seeds[p] = state;
#pragma omp simd reduction(+ : sum)
            for (int d = 0; d < dims; d++) {
                float to = x[d];
                float by = inertia * v[d] + c1 * r1[d] * (own[d] - to) + c2 * r2[d] * (global_best[d] - to);
                by = by < -0.5f * limit ? -0.5f * limit : by;
                by = by > 0.5f * limit ? 0.5f * limit : by;
                to += by;
                int outside = to < -limit || to > limit;
                to = to < -limit ? -limit : to;
                to = to > limit ? limit : to;
                x[d] = to;
                v[d] = outside ? -0.5f * by : by;
                sum += to * to - 10 * cosf(6.2831853f * to);
            }
            if (sum < own_value[p]) {
                own_value[p] = sum;
                memcpy(own, x, dims * sizeof(float));
            }
            if (own_value[p] < value) {
                value = own_value[p];
                best = p;
            }
        }
        if (best >= 0) {
            global_value[0] = value;
            memcpy(global_best, own_best + (long)best * dims, dims * sizeof(float));
        }
    }
}
