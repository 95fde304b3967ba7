// Dropout by Philox, the residual and layer norm on rows of 768 halves; `groups` rows apart a generator goes on.
#include "native.h"
#include <immintrin.h>

enum { COLS = 768, LANES = 32 };

static inline __m256 wide(const uint16_t *p) {
    return _mm256_cvtph_ps(_mm_loadu_si128((const void *)p));
}

void run(const uint16_t *restrict x0, const uint16_t *restrict residual, const uint16_t *restrict gamma,
         const uint16_t *restrict beta, uint16_t *restrict x, uint16_t *restrict z, uchar *restrict dmask,
         float *restrict mu, float *restrict rs, int rows, uint keep_below, float scale, float eps, ull seed,
         int groups) {
    float g[COLS], b[COLS], v[COLS], res[COLS];
    uchar keep[COLS];
    for (int i = 0; i < COLS; i += 8) {
        _mm256_storeu_ps(g + i, wide(gamma + i));
        _mm256_storeu_ps(b + i, wide(beta + i));
    }
    for (int row = 0; row < rows; row++) {
        size_t at = (size_t)row * COLS;
        for (int call = 0; call < COLS / (4 * LANES); call++) {
            uint random[4][LANES];
            uint offset = row / groups * (COLS / (4 * LANES)) + call, sequence = row % groups * LANES;
#pragma omp simd
            for (int lane = 0; lane < LANES; lane++) {
                uint cx = offset, cy = 0, cz = sequence + lane, cw = 0, kx = seed, ky = seed >> 32;
                for (int i = 0; i < 10; i++) {
                    ull a = (ull)0xD2511F53 * cx, c = (ull)0xCD9E8D57 * cz;
                    uint x = (uint)(c >> 32) ^ cy ^ kx, z = (uint)(a >> 32) ^ cw ^ ky;
                    cx = x;
                    cy = c;
                    cz = z;
                    cw = a;
                    kx += 0x9E3779B9;
                    ky += 0xBB67AE85;
                }
                random[0][lane] = cx;
                random[1][lane] = cy;
                random[2][lane] = cz;
                random[3][lane] = cw;
            }
            for (int lane = 0; lane < LANES; lane++)
                for (int j = 0; j < 4; j++)
                    keep[call / 2 * 8 * LANES + 8 * lane + call % 2 * 4 + j] = random[j][lane] < keep_below;
        }
        for (int i = 0; i < COLS; i += 8) {
            _mm256_storeu_ps(v + i, wide(x0 + at + i));
            _mm256_storeu_ps(res + i, wide(residual + at + i));
        }
        float sum = 0, square = 0;
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < COLS; i++) {
            v[i] = (keep[i] ? v[i] * scale : 0) + res[i];
            sum += v[i];
        }
        memcpy(dmask + at, keep, COLS);
        float mean = sum / COLS;
#pragma omp simd reduction(+ : square)
        for (int i = 0; i < COLS; i++)
            square += (v[i] - mean) * (v[i] - mean);
        float s = 1 / sqrtf(square / COLS + eps);
        mu[row] = mean;
        rs[row] = s;
        for (int i = 0; i < COLS; i += 8)
            _mm_storeu_si128((void *)(x + at + i), _mm256_cvtps_ph(_mm256_loadu_ps(v + i), 0));
        for (int i = 0; i < COLS; i++)
            v[i] = g[i] * (s * (v[i] - mean)) + b[i];
        for (int i = 0; i < COLS; i += 8)
            _mm_storeu_si128((void *)(z + at + i), _mm256_cvtps_ph(_mm256_loadu_ps(v + i), 0));
    }
}
