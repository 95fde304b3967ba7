// YaRN's table of cosines and sines, then queries and keys turned by it.
#include "native.h"
#include <immintrin.h>

__attribute__((simd("notinbranch"))) extern float cosf(float);
__attribute__((simd("notinbranch"))) extern float sinf(float);

static void turn(uint16_t *restrict head, const float *restrict cs, const float *restrict sn, int half) {
    for (int d = 0; d < half; d += 8) {
        __m256 a = _mm256_cvtph_ps(_mm_loadu_si128((void *)(head + d)));
        __m256 b = _mm256_cvtph_ps(_mm_loadu_si128((void *)(head + half + d)));
        __m256 c = _mm256_loadu_ps(cs + d), s = _mm256_loadu_ps(sn + d);
        __m256 x = _mm256_fmsub_ps(a, c, _mm256_mul_ps(b, s)), y = _mm256_fmadd_ps(b, c, _mm256_mul_ps(a, s));
        _mm_storeu_si128((void *)(head + d), _mm256_cvtps_ph(x, 0));
        _mm_storeu_si128((void *)(head + half + d), _mm256_cvtps_ph(y, 0));
    }
}

void run(const float *restrict inv_freq, float *restrict table, uint16_t *restrict q, uint16_t *restrict k,
         const int *restrict position, int positions, int half, float factor, float low, float high, float mscale,
         int tokens, int q_heads, int k_heads) {
    float freq[half], cs[half], sn[half];
    for (int d = 0; d < half; d++) {
        float ramp = fminf(fmaxf((d - low) / fmaxf(high - low, 1e-3f), 0), 1);
        freq[d] = inv_freq[d] / factor * ramp + inv_freq[d] * (1 - ramp);
    }
    for (int p = 0; p < positions; p++) {
        float *row = table + (size_t)p * half * 2;
        // two loops: gcc would make one call of both, of which it has no vectors
#pragma omp simd
        for (int d = 0; d < half; d++)
            cs[d] = cosf(p * freq[d]) * mscale;
#pragma omp simd
        for (int d = 0; d < half; d++)
            sn[d] = sinf(p * freq[d]) * mscale;
        for (int d = 0; d < half; d++)
            row[2 * d] = cs[d], row[2 * d + 1] = sn[d];
    }
    for (int t = 0; t < tokens; t++) {
        const float *row = table + (size_t)position[t] * half * 2;
        for (int d = 0; d < half; d++)
            cs[d] = row[2 * d], sn[d] = row[2 * d + 1];
        for (int h = 0; h < q_heads; h++)
            turn(q + ((size_t)t * q_heads + h) * 2 * half, cs, sn, half);
        for (int h = 0; h < k_heads; h++)
            turn(k + ((size_t)t * k_heads + h) * 2 * half, cs, sn, half);
    }
}
