// Keys into buckets by a prime divisor, and a sum for each bucket.
#include "native.h"

void run(const uint *restrict keys, uint *restrict counts, uint *restrict offsets, uint *restrict cursor,
         uint *restrict out, ull *restrict sums, uint *restrict largest, int n, uint buckets, uint divisor) {
    for (int i = 0; i < n; i++)
        counts[keys[i] / 3 % divisor % buckets]++;
    uint base = 0;
    for (int b = 0; b < buckets; b++) {
        cursor[b] = offsets[b] = base;
        base += counts[b];
    }
    offsets[buckets] = base;
    for (int i = 0; i < n; i++)
        out[cursor[keys[i] / 3 % divisor % buckets]++] = keys[i];
    for (int b = 0; b < buckets; b++) {
        ull sum = 0;
        uint most = 0;
#pragma omp simd reduction(+ : sum) reduction(max : most)
        for (uint i = offsets[b]; i < offsets[b + 1]; i++) {
            sum += out[i];
            most = MAX(most, out[i]);
        }
        sums[b] = sum;
        largest[b] = most;
    }
}
