// NF4 weights by a few rows of halves: a column's weights are decoded once, then four products of floats.
#include "native.h"
#include <immintrin.h>
enum { ROWS = 4, GROUP = 64 };

static const float levels[16] = {-1.0f,        -0.69619280f, -0.52507305f, -0.39491749f, -0.28444138f, -0.18477343f,
                                 -0.09105004f, 0.0f,         0.07958030f,  0.16093020f,  0.24611230f,  0.33791524f,
                                 0.44070983f,  0.56261700f,  0.72295684f,  1.0f};

// 8 bytes, the upper four bits of each first, are 16 weights
static inline __m256 decoded(__m256i code) {
#ifdef __AVX512F__
    return _mm512_castps512_ps256(
        _mm512_permutexvar_ps(_mm512_castsi256_si512(code), _mm512_loadu_ps(levels)));
#else
    __m256 low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(levels), code);
    __m256 high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(levels + 8), code);
    return _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(code, 28)));
#endif
}

void run(const uint16_t *restrict x, const uchar *restrict packed, const float *restrict absmax,
         const uint16_t *restrict bias, uint16_t *restrict out, int n, int k) {
    float *wide = malloc((long)ROWS * k * sizeof *wide);
    for (long i = 0; i < (long)ROWS * k; i += 8)
        _mm256_storeu_ps(wide + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(x + i))));
    const float *x0 = wide, *x1 = x0 + k, *x2 = x1 + k, *x3 = x2 + k;
    for (int col = 0; col < n; col++) {
        const uchar *from = packed + (long)col * k / 2;
        const float *scales = absmax + (long)col * k / GROUP;
        __m256 s0 = _mm256_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
        for (int at = 0; at < k; at += 16) {
            __m256 scale = _mm256_set1_ps(scales[at / GROUP]);
            __m128i bytes = _mm_loadl_epi64((const void *)(from + at / 2)), mask = _mm_set1_epi8(15);
            __m128i upper = _mm_and_si128(_mm_srli_epi16(bytes, 4), mask), lower = _mm_and_si128(bytes, mask);
            __m128i codes = _mm_unpacklo_epi8(upper, lower);
            __m256 a = _mm256_mul_ps(decoded(_mm256_cvtepu8_epi32(codes)), scale);
            __m256 b = _mm256_mul_ps(decoded(_mm256_cvtepu8_epi32(_mm_srli_si128(codes, 8))), scale);
            s0 = _mm256_fmadd_ps(a, _mm256_loadu_ps(x0 + at), s0);
            s1 = _mm256_fmadd_ps(a, _mm256_loadu_ps(x1 + at), s1);
            s2 = _mm256_fmadd_ps(a, _mm256_loadu_ps(x2 + at), s2);
            s3 = _mm256_fmadd_ps(a, _mm256_loadu_ps(x3 + at), s3);
            s0 = _mm256_fmadd_ps(b, _mm256_loadu_ps(x0 + at + 8), s0);
            s1 = _mm256_fmadd_ps(b, _mm256_loadu_ps(x1 + at + 8), s1);
            s2 = _mm256_fmadd_ps(b, _mm256_loadu_ps(x2 + at + 8), s2);
            s3 = _mm256_fmadd_ps(b, _mm256_loadu_ps(x3 + at + 8), s3);
        }
        __m256 all[ROWS] = {s0, s1, s2, s3};
        float add = _cvtsh_ss(bias[col]);
        for (int m = 0; m < ROWS; m++) {
            float parts[8], sum = 0;
            _mm256_storeu_ps(parts, all[m]);
            for (int i = 0; i < 8; i++)
                sum += parts[i];
            out[(long)m * n + col] = _cvtss_sh(sum + add, 0);
        }
    }
    free(wide);
}
