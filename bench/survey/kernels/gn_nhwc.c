// Group norm with channels last in half precision, with SiLU; `c` is at most 1024 and even.
#include "native.h"
#include <immintrin.h>

static inline void widen(const uint16_t *from, float *to, int n) {
    int i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(from + i))));
    for (; i < n; i++)
        to[i] = _cvtsh_ss(from[i]);
}

static inline void narrow(const float *from, uint16_t *to, int n) {
    int i = 0;
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((void *)(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0));
    for (; i < n; i++)
        to[i] = _cvtss_sh(from[i], 0);
}

void run(const uint16_t *restrict src, uint16_t *restrict dst, const float *restrict gamma,
         const float *restrict beta, int n, int hw, int c, int groups, float eps) {
    float x[1024], sum[1024], square[1024], a[1024], b[1024];
    int each = c / groups;
    for (int image = 0; image < n; image++) {
        const uint16_t *s = src + (size_t)image * hw * c;
        uint16_t *d = dst + (size_t)image * hw * c;
        memset(sum, 0, sizeof sum);
        memset(square, 0, sizeof square);
        for (int p = 0; p < hw; p++) {
            widen(s + (size_t)p * c, x, c);
#pragma omp simd
            for (int i = 0; i < c; i++) {
                sum[i] += x[i];
                square[i] += x[i] * x[i];
            }
        }
        for (int g = 0; g < groups; g++) {
            double t = 0, q = 0;
            for (int i = g * each; i < (g + 1) * each; i++) {
                t += sum[i];
                q += square[i];
            }
            double mean = t / ((double)each * hw), var = q / ((double)each * hw) - mean * mean;
            float rstd = 1 / sqrt(var + eps);
            for (int i = g * each; i < (g + 1) * each; i++) {
                a[i] = gamma[i] * rstd;
                b[i] = beta[i] - (float)mean * a[i];
            }
        }
        for (int p = 0; p < hw; p++) {
            widen(s + (size_t)p * c, x, c);
#pragma omp simd
            for (int i = 0; i < c; i++) {
                float y = x[i] * a[i] + b[i];
                x[i] = y / (1 + expf(-y));
            }
            narrow(x, d + (size_t)p * c, c);
        }
    }
}
