// Matrix times vector, weights in MXFP4; values doubled are small integers, which a byte shuffle looks up.
#include "native.h"
#include <immintrin.h>

void run(const uint8_t *restrict packed, const uint8_t *restrict scales, const float *restrict x,
         const float *restrict bias, float *restrict y, int rows, int blocks) {
    const __m128i table = _mm_setr_epi8(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12);
    const __m128i low = _mm_set1_epi8(15);
    for (int r = 0; r < rows; r++) {
        const uint8_t *w = packed + (size_t)r * blocks * 16, *s = scales + (size_t)r * blocks;
        __m256 sum = _mm256_setzero_ps();
        for (int b = 0; b < blocks; b++) {
            __m128i q = _mm_loadu_si128((const void *)(w + 16 * b));
            __m128i even = _mm_shuffle_epi8(table, _mm_and_si128(q, low));
            __m128i odd = _mm_shuffle_epi8(table, _mm_and_si128(_mm_srli_epi16(q, 4), low));
            __m128i first = _mm_unpacklo_epi8(even, odd), second = _mm_unpackhi_epi8(even, odd);
            const float *v = x + 32 * b;
            __m256 part = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(first)), _mm256_loadu_ps(v));
            part = _mm256_fmadd_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(first, 8))),
                                   _mm256_loadu_ps(v + 8), part);
            part = _mm256_fmadd_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(second)), _mm256_loadu_ps(v + 16), part);
            part = _mm256_fmadd_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(second, 8))),
                                   _mm256_loadu_ps(v + 24), part);
            union {
                uint u;
                float f;
            } scale = {s[b] ? s[b] == 255 ? 0x7fc00000u : (uint)s[b] << 23 : 0x00400000u};
            sum = _mm256_fmadd_ps(part, _mm256_set1_ps(scale.f * 0.5f), sum);
        }
        float lanes[8], total = 0;
        _mm256_storeu_ps(lanes, sum);
        for (int i = 0; i < 8; i++)
            total += lanes[i];
        y[r] = total + bias[r];
    }
}
