// Rotates queries and keys of halves by eights, and puts keys and values into a cache of pages.
#include "native.h"
#include <immintrin.h>

static inline __m256 load(const uint16_t *from) {
    return _mm256_cvtph_ps(_mm_loadu_si128((const void *)from));
}

static inline void store(uint16_t *to, __m256 x) {
    _mm_storeu_si128((void *)to, _mm256_cvtps_ph(x, 0));
}

void run(uint16_t *restrict query, const uint16_t *restrict key, const uint16_t *restrict value,
         uint16_t *restrict key_cache, uint16_t *restrict value_cache, const float *restrict cos_sin,
         const int64_t *restrict positions, const int64_t *restrict slots, int heads, int kv_heads, int dim, int page,
         int tokens) {
    int half_dim = dim / 2;
    float *c = malloc(dim * sizeof *c), *s = c + half_dim;
    for (long token = 0; token < tokens; token++) {
        const float *table = cos_sin + positions[token] * dim;
        for (int d = 0; d < half_dim; d++)
            c[d] = table[2 * d], s[d] = table[2 * d + 1];
        for (int head = 0; head < heads; head++) {
            uint16_t *q = query + (token * heads + head) * dim;
            for (int d = 0; d < half_dim; d += 8) {
                __m256 a = load(q + d), b = load(q + d + half_dim);
                __m256 cd = _mm256_loadu_ps(c + d), sd = _mm256_loadu_ps(s + d);
                store(q + d, _mm256_fmsub_ps(a, cd, _mm256_mul_ps(b, sd)));
                store(q + d + half_dim, _mm256_fmadd_ps(b, cd, _mm256_mul_ps(a, sd)));
            }
        }
        if (slots[token] < 0)
            continue;
        long index = slots[token] / page, offset = slots[token] % page;
        for (int head = 0; head < kv_heads; head++) {
            const uint16_t *k = key + (token * kv_heads + head) * dim, *v = value + (token * kv_heads + head) * dim;
            uint16_t *k_to = key_cache + (index * kv_heads + head) * dim * page + offset * 8;
            uint16_t *v_to = value_cache + (index * kv_heads + head) * dim * page + offset;
            for (int d = 0; d < half_dim; d += 8) {
                __m256 a = load(k + d), b = load(k + d + half_dim);
                __m256 cd = _mm256_loadu_ps(c + d), sd = _mm256_loadu_ps(s + d);
                store(k_to + (long)d * page, _mm256_fmsub_ps(a, cd, _mm256_mul_ps(b, sd)));
                store(k_to + (long)(d + half_dim) * page, _mm256_fmadd_ps(b, cd, _mm256_mul_ps(a, sd)));
            }
            for (int d = 0; d < dim; d++)
                v_to[(long)d * page] = v[d];
        }
    }
    free(c);
}
