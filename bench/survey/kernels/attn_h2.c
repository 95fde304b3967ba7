#include "native.h"
#include <immintrin.h>

#define DIM 64

static void widen(const uint16_t *from, float *to, long n) {
    for (long i = 0; i < n; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(from + i))));
}

// In float, as a CPU multiplies halves no faster.
void run(const uint16_t *restrict q, const uint16_t *restrict k, uint16_t *restrict probs, int queries, int keys,
         float scale, int heads) {
    float *wide = malloc((long)keys * DIM * sizeof *wide), *s = calloc(keys + 8, sizeof *s), query[DIM];
    for (int head = 0; head < heads; head++) {
        widen(k + (long)head * keys * DIM, wide, (long)keys * DIM);
        for (int i = 0; i < queries; i++) {
            int limit = keys - queries + i + 1;
            widen(q + (long)(head * queries + i) * DIM, query, DIM);
            for (int d = 0; d < DIM; d++)
                query[d] *= scale;
            for (int j = 0; j < limit; j++) {
                const float *key = wide + (long)j * DIM;
                float dot = 0;
#pragma omp simd reduction(+ : dot)
                for (int d = 0; d < DIM; d++)
                    dot += query[d] * key[d];
                s[j] = dot;
            }
            float best = -INFINITY, sum = 0;
#pragma omp simd reduction(max : best)
            for (int j = 0; j < limit; j++)
                best = MAX(best, s[j]);
#pragma omp simd reduction(+ : sum)
            for (int j = 0; j < limit; j++) {
                s[j] = expf(s[j] - best);
                sum += s[j];
            }
            float inverse = 1 / sum;
#pragma omp simd
            for (int j = 0; j < limit; j++)
                s[j] *= inverse;
            uint16_t *out = probs + (long)(head * queries + i) * keys;
            int j = 0;
            for (; j + 8 <= limit; j += 8)
                _mm_storeu_si128((void *)(out + j), _mm256_cvtps_ph(_mm256_loadu_ps(s + j), 0));
            for (; j < limit; j++)
                out[j] = _cvtss_sh(s[j], 0);
            memset(out + limit, 0, (long)(keys - limit) * sizeof *out);
        }
    }
    free(wide);
    free(s);
}
