// A sparse convolution: each cell looks for its 27 neighbours in a hash table and adds their features' products.
#include "native.h"

enum { IN = 16, OUT = 32 };

static inline uint murmur(ull k) {
    k ^= k >> 33;
    k *= 0xff51afd7ed558ccdull;
    k ^= k >> 33;
    k *= 0xc4ceb9fe1a85ec53ull;
    k ^= k >> 33;
    return k;
}

void run(const int *restrict coords, const float *restrict features, const float *restrict weights,
         const float *restrict bias, int *restrict counts, float *restrict out, uint slots, int n, int sz, int sy, int sx) {
    ull *restrict keys = malloc(slots * sizeof(ull));
    int *restrict values = malloc(slots * sizeof(int));
    memset(keys, 0xff, slots * sizeof(ull));
    memset(counts, 0, 27 * sizeof(int));
    for (int i = 0; i < n; i++) {
        const int *c = coords + 4 * i;
        ull key = (((ull)c[0] * sz + c[1]) * sy + c[2]) * sx + c[3];
        uint slot = murmur(key) & (slots - 1);
        while (keys[slot] != ~0ull)
            slot = (slot + 1) & (slots - 1);
        keys[slot] = key;
        values[slot] = i;
    }
    for (int i = 0; i < n; i++) {
        const int *c = coords + 4 * i;
        float sum[OUT];
        memcpy(sum, bias, sizeof sum);
        for (int k = 0; k < 27; k++) {
            int z = c[1] + k / 9 - 1, y = c[2] + k / 3 % 3 - 1, x = c[3] + k % 3 - 1;
            if (z < 0 || y < 0 || x < 0 || z >= sz || y >= sy || x >= sx)
                continue;
            ull key = (((ull)c[0] * sz + z) * sy + y) * sx + x;
            uint slot = murmur(key) & (slots - 1);
            while (keys[slot] != ~0ull && keys[slot] != key)
                slot = (slot + 1) & (slots - 1);
            if (keys[slot] != key)
                continue;
            counts[k]++;
            const float *from = features + (long)values[slot] * IN, *w = weights + k * IN * OUT;
            for (int a = 0; a < IN; a++)
#pragma omp simd
                for (int b = 0; b < OUT; b++)
                    sum[b] += from[a] * w[a * OUT + b];
        }
        for (int b = 0; b < OUT; b++)
            out[(long)i * OUT + b] = MAX(sum[b], 0);
    }
    free(keys);
    free(values);
}
