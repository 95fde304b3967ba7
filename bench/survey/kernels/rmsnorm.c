#include "native.h"
#include <immintrin.h>

static inline void widen(const uint16_t *restrict h, float *restrict f, int n) {
    for (int i = 0; i < n; i += 16)
        _mm512_storeu_ps(f + i, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(h + i))));
}

void run(const uint16_t *restrict x, const uint16_t *restrict w, uint16_t *restrict y, int rows, int dim, float eps) {
    float f[4096], g[4096];
    widen(w, g, dim);
    for (int r = 0; r < rows; r++) {
        widen(x + (long)r * dim, f, dim);
        float s = 0;
#pragma omp simd reduction(+ : s)
        for (int i = 0; i < dim; i++)
            s += f[i] * f[i];
        s = 1 / sqrtf(s / dim + eps);
        for (int i = 0; i < dim; i++)
            f[i] = f[i] * s * g[i];
        for (int i = 0; i < dim; i += 16)
            _mm256_storeu_si256((void *)(y + (long)r * dim + i), _mm512_cvtps_ph(_mm512_loadu_ps(f + i), 0));
    }
}
