#include "native.h"

#ifdef HALF
#include <immintrin.h>
// Zen 4 and most others compute halves in single precision: convert, one fma, convert back.
void run(const REAL *restrict x, REAL *restrict y, int n, float a)
{
    for (int i = 0; i + 16 <= n; i += 16) {
        __m512 left = _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(x + i)));
        __m512 right = _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(y + i)));
        __m512 sum = _mm512_fmadd_ps(_mm512_set1_ps((REAL)a), left, right);
        _mm256_storeu_si256((void *)(y + i), _mm512_cvtps_ph(sum, _MM_FROUND_TO_NEAREST_INT));
    }
}
#else
void run(const REAL *restrict x, REAL *restrict y, int n, float a)
{
    int i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        STORE(y + i, (REAL)a * LOAD(x + i) + LOAD(y + i));
        STORE(y + i + LANES, (REAL)a * LOAD(x + i + LANES) + LOAD(y + i + LANES));
    }
    for (; i < n; i++)
        y[i] = (REAL)a * x[i] + y[i];
}
#endif
