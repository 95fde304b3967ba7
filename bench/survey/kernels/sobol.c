// Sobol's quasi-random numbers, and the mean of a product over all dimensions.
#include "native.h"

enum { LOW = 6, W = 1 << LOW };

void run(const uint *restrict directions, float *restrict output, double *restrict sum, uint vectors, uint dimensions) {
    for (uint d = 0; d < dimensions; d++) {
        const uint *v = directions + 32 * d;
        float *out = output + (size_t)d * vectors;
        uint low[W] = {0};  // the lowest digits' part
        for (uint i = 1; i < W; i++)
            low[i] = low[i - 1] ^ v[__builtin_ctz(i)];
        uint x = 0;
        for (uint first = 0; first < vectors; first += W) {
            if (first)
                x ^= v[LOW - 1] ^ v[__builtin_ctz(first)];
            uint lanes = MIN(W, vectors - first);
#pragma omp simd
            for (uint i = 0; i < lanes; i++)
                out[first + i] = (float)(x ^ low[i]) * 2.3283064e-10f;
        }
    }
    double total = 0;
    for (uint first = 0; first < vectors; first += W) {
        uint lanes = MIN(W, vectors - first);
        float product[W];
        for (int i = 0; i < W; i++)
            product[i] = 1;
        for (uint d = 0; d < dimensions; d++) {
            const float *p = output + (size_t)d * vectors + first;
            float a = 1.0f + d;
#pragma omp simd
            for (uint i = 0; i < lanes; i++)
                product[i] *= (fabsf(4 * p[i] - 2) + a) / (1 + a);
        }
        for (uint i = 0; i < lanes; i++)
            total += product[i];
    }
    *sum += total;
}
