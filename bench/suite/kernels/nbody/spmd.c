// A lane is a body i, as in the CUDA version.
#include "native.h"
#ifdef __AVX512F__
#include <immintrin.h>
#endif

static inline vec inverse_root(vec x)
{
#ifdef __AVX512F__
    // The approximation and Newton steps to (nearly) full precision: faster than root and division.
    vec y = sizeof(REAL) == 4 ? (vec)_mm512_rsqrt14_ps((__m512)x) : (vec)_mm512_rsqrt14_pd((__m512d)x);
    for (int step = 0; step < (sizeof(REAL) == 4 ? 1 : 2); step++)
        y = y * ((REAL)1.5 - (REAL)0.5 * x * y * y);
    return y;
#else
    for (int l = 0; l < LANES; l++)
        x[l] = (REAL)1 / sqrt(x[l]);
    return x;
#endif
}

void run(const REAL *restrict px, const REAL *restrict py, const REAL *restrict pz, const REAL *restrict mass,
         REAL *restrict ax, REAL *restrict ay, REAL *restrict az, int n)
{
    for (int i = 0; i < n; i += 2 * LANES) {
        vec x[2], y[2], z[2], sx[2] = {0}, sy[2] = {0}, sz[2] = {0};
        for (int h = 0; h < 2; h++) {
            x[h] = LOAD(px + i + h * LANES);
            y[h] = LOAD(py + i + h * LANES);
            z[h] = LOAD(pz + i + h * LANES);
        }
        for (int j = 0; j < n; j++)
#pragma GCC unroll 2
            for (int h = 0; h < 2; h++) {
                vec dx = px[j] - x[h], dy = py[j] - y[h], dz = pz[j] - z[h];
                vec inverse = inverse_root(dx * dx + dy * dy + dz * dz + (REAL)0.01);
                vec pull = mass[j] * inverse * inverse * inverse;
                sx[h] += dx * pull;
                sy[h] += dy * pull;
                sz[h] += dz * pull;
            }
        for (int h = 0; h < 2; h++) {
            STORE(ax + i + h * LANES, sx[h]);
            STORE(ay + i + h * LANES, sy[h]);
            STORE(az + i + h * LANES, sz[h]);
        }
    }
}
