// Fast sweeping, row by row: what needs no cell of this row's sweep is done first, in vectors.
#include "native.h"

static inline float least(float a, float b) { return a < b ? a : b; }

static inline float arrival(float a, float b, float fh) {
    float d = a - b, two = 0.5f * (a + b + sqrtf(2 * fh * fh - d * d));
    return fabsf(d) >= fh ? least(a, b) + fh : two;
}

void run(float *restrict t, const float *restrict slowness, const uchar *restrict start, int nx, int ny, float h,
         int rounds) {
    const float far = 1e10f;
    float *restrict column = malloc(nx * sizeof(float)), *restrict none = malloc(nx * sizeof(float));
    for (int x = 0; x < nx; x++)
        none[x] = far;
    for (int sweep = 0; sweep < 4 * rounds; sweep++) {
        int right = sweep & 1, below = sweep >> 1 & 1;
        for (int j = 0; j < ny; j++) {
            int y = below ? ny - 1 - j : j;
            long row = (long)y * nx;
            float *restrict u = t + row;
            const float *restrict up = y > 0 ? u - nx : none, *restrict down = y < ny - 1 ? u + nx : none;
            const float *restrict slow = slowness + row;
            const uchar *restrict is_start = start + row;
#pragma omp simd
            for (int x = 0; x < nx; x++)
                column[x] = least(up[x], down[x]);
            float last = far;
            int step = right ? -1 : 1;
            for (int i = 0, x = right ? nx - 1 : 0; i < nx; i++, x += step) {
                float old = u[x], ahead = i < nx - 1 ? u[x + step] : far;
                float found = arrival(least(last, ahead), column[x], slow[x] * h);
                last = u[x] = !is_start[x] && found < old ? found : old;
            }
        }
    }
    free(column);
    free(none);
}
