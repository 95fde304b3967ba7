// Alternating least squares by conjugate gradients: the users one after another, 64 factors in vectors.
#include "native.h"
enum { FACTORS = 64 };

static inline float dot(const float *restrict a, const float *restrict b) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int f = 0; f < FACTORS; f++)
        sum += a[f] * b[f];
    return sum;
}

static inline void add(float *restrict to, float c, const float *restrict from) {
#pragma omp simd
    for (int f = 0; f < FACTORS; f++)
        to[f] += c * from[f];
}

static inline void by_gram(const float *restrict gram, const float *restrict p, float *restrict to) {
    float sums[FACTORS] = {0};
    for (int g = 0; g < FACTORS; g++)
        add(sums, p[g], gram + g * FACTORS);
    memcpy(to, sums, sizeof sums);
}

void run(const int *restrict user_start, const int *restrict item_of, const float *restrict confidence,
         const float *restrict items, float *restrict gram, float *restrict users, int item_count,
         float regularization, int user_count, int steps) {
    memset(gram, 0, FACTORS * FACTORS * sizeof *gram);
    for (int i0 = 0; i0 < item_count; i0 += 8)
        for (int row = 0; row < FACTORS; row++) {
            float sums[FACTORS];
            memcpy(sums, gram + row * FACTORS, sizeof sums);
            for (int i = i0; i < MIN(i0 + 8, item_count); i++)
                add(sums, items[(long)i * FACTORS + row], items + (long)i * FACTORS);
            memcpy(gram + row * FACTORS, sums, sizeof sums);
        }
    for (int row = 0; row < FACTORS; row++)
        gram[row * FACTORS + row] += regularization;
    for (int u = 0; u < user_count; u++) {
        int first = user_start[u], last = user_start[u + 1];
        float *x = users + (long)u * FACTORS, r[FACTORS], p[FACTORS], ap[FACTORS];
        if (first == last) {
            memset(x, 0, sizeof r);
            continue;
        }
        by_gram(gram, x, r);
        for (int f = 0; f < FACTORS; f++)
            r[f] = -r[f];
        for (int e = first; e < last; e++) {
            const float *y = items + (long)item_of[e] * FACTORS;
            float c = confidence[e];
            add(r, c - (c - 1) * dot(y, x), y);
        }
        memcpy(p, r, sizeof p);
        float rs_old = dot(r, r);
        for (int step = 0; step < steps && rs_old > 1e-20f; step++) {
            by_gram(gram, p, ap);
            for (int e = first; e < last; e++) {
                const float *y = items + (long)item_of[e] * FACTORS;
                add(ap, (confidence[e] - 1) * dot(y, p), y);
            }
            float alpha = rs_old / dot(p, ap);
            add(x, alpha, p);
            add(r, -alpha, ap);
            float rs_new = dot(r, r), beta = rs_new / rs_old;
            for (int f = 0; f < FACTORS; f++)
                p[f] = r[f] + beta * p[f];
            rs_old = rs_new;
        }
    }
}
