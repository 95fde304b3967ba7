#include "native.h"
#include <immintrin.h>

static float *widened(const uint16_t *h, long n) {
    float *f = aligned_alloc(64, 4 * n);
    for (long i = 0; i < n; i += 16)
        _mm512_store_ps(f + i, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(h + i))));
    return f;
}

// Four rows of the result at a time: as far as a compiler comes with plain loops.
void run(const uint16_t *restrict a, const uint16_t *restrict b, float *restrict c, int n) {
    float *restrict x = widened(a, (long)n * n), *restrict y = widened(b, (long)n * n);
    for (int i = 0; i < n; i += 4) {
        float *restrict c0 = c + (long)i * n, *restrict c1 = c0 + n, *restrict c2 = c1 + n, *restrict c3 = c2 + n;
        memset(c0, 0, 16L * n);
        for (int k = 0; k < n; k++) {
            float p = x[i * n + k], q = x[(i + 1) * n + k], r = x[(i + 2) * n + k], s = x[(i + 3) * n + k];
            for (int j = 0; j < n; j++) {
                c0[j] += p * y[k * n + j];
                c1[j] += q * y[k * n + j];
                c2[j] += r * y[k * n + j];
                c3[j] += s * y[k * n + j];
            }
        }
    }
    free(x);
    free(y);
}
