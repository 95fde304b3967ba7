#include "native.h"
#include <immintrin.h>

#define PART 512

// `n` is a multiple of 8, and `param` holds `master` rounded from the start.
void run(uint16_t *restrict param, const uint16_t *restrict grad, float *restrict master, float *restrict m,
         float *restrict v, long long n, float lr, float beta1, float beta2, float eps, float decay, float unscale,
         float correct1, float correct2) {
    float gs[PART];
    for (long s = 0; s < n; s += PART) {
        int count = MIN(PART, n - s);
        for (int i = 0; i < count; i += 8)
            _mm256_storeu_ps(gs + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(grad + s + i))));
#pragma omp simd
        for (int i = 0; i < count; i++) {
            float g = gs[i] * unscale, w = master[s + i], a = m[s + i], b = v[s + i];
            int good = fabsf(g) < INFINITY;
            float a2 = beta1 * a + (1 - beta1) * g, b2 = beta2 * b + (1 - beta2) * g * g;
            float step = (a2 / correct1) / (sqrtf(b2 / correct2) + eps);
            m[s + i] = good ? a2 : a;
            v[s + i] = good ? b2 : b;
            master[s + i] = good ? w - lr * (step + decay * w) : w;
        }
        for (int i = 0; i < count; i += 8)
            _mm_storeu_si128((void *)(param + s + i), _mm256_cvtps_ph(_mm256_loadu_ps(master + s + i), 0));
    }
}
