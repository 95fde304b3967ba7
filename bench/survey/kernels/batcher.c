// Batcher's odd-even merge sort of pairs: the same network for each list; runs of pairs are contiguous.
#include "native.h"

enum { N = 1024 };

static inline void runs(float *restrict ka, uint *restrict va, float *restrict kb, uint *restrict vb, int count) {
#pragma omp simd
    for (int i = 0; i < count; i++) {
        float a = ka[i], b = kb[i];
        uint x = va[i], y = vb[i];
        int swap = b < a;
        ka[i] = swap ? b : a;
        kb[i] = swap ? a : b;
        va[i] = swap ? y : x;
        vb[i] = swap ? x : y;
    }
}

static void steps(float *k, uint *v, int p, int d) {
    int offset = d & (p - 1);
    for (int at = 0; at < N; at += 2 * p) {
        float *kk = k + at;
        uint *vv = v + at;
        if (d >= 8) {
            for (int i = offset; i + 2 * d <= 2 * p; i += 2 * d)
                runs(kk + i, vv + i, kk + i + d, vv + i + d, d);
        } else {
            for (int i = offset; i + 2 * d <= 2 * p; i += 2 * d)
                for (int j = i; j < i + d; j++) {
                    float a = kk[j], b = kk[j + d];
                    uint x = vv[j], y = vv[j + d];
                    int swap = b < a;
                    kk[j] = swap ? b : a;
                    kk[j + d] = swap ? a : b;
                    vv[j] = swap ? y : x;
                    vv[j + d] = swap ? x : y;
                }
        }
    }
}

void run(float *restrict keys, uint *restrict values, const int *restrict start, int lists) {
    float k[N];
    uint v[N];
    for (int l = 0; l < lists; l++) {
        int first = start[l], count = start[l + 1] - first;
        for (int i = 0; i < N; i++) {
            k[i] = i < count ? keys[first + i] : INFINITY;
            v[i] = i < count ? values[first + i] : ~0u;
        }
        for (int p = 1; p < N; p *= 2)
            for (int d = p; d >= 1; d /= 2)
                steps(k, v, p, d);
        memcpy(keys + first, k, count * sizeof *k);
        memcpy(values + first, v, count * sizeof *v);
    }
}
