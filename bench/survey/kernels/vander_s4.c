// The kernel of a diagonal state space model and the gradient for its coefficients; exponentials side by side.
#include "native.h"

__attribute__((simd("notinbranch"))) extern float cosf(float);
__attribute__((simd("notinbranch"))) extern float sinf(float);

enum { N = 32, PART = 128 };

void run(const float *restrict c, const float *restrict dt_a, const float *restrict dk, float *restrict k,
         float *restrict dc, int H, int L) {
    for (int h = 0; h < H; h++) {
        float *out = k + (size_t)h * L;
        const float *g = dk + (size_t)h * L;
        memset(out, 0, L * sizeof(float));
        for (int n = 0; n < N; n++) {
            float cr = 2 * c[2 * (h * N + n)], ci = 2 * c[2 * (h * N + n) + 1], re = 0, im = 0;
            float ar = dt_a[2 * (h * N + n)], ai = dt_a[2 * (h * N + n) + 1];
            for (int first = 0; first < L; first += PART) {  // gcc has no vectors for sines beside cosines
                int count = MIN(PART, L - first);
                float size[PART], turn[PART], x[PART];
#pragma omp simd
                for (int i = 0; i < count; i++) {
                    size[i] = expf(ar * (first + i));
                    turn[i] = ai * (first + i);
                }
#pragma omp simd
                for (int i = 0; i < count; i++)
                    x[i] = size[i] * cosf(turn[i]);
#pragma omp simd reduction(+ : re, im)
                for (int i = 0; i < count; i++) {
                    float y = size[i] * sinf(turn[i]);
                    out[first + i] += cr * x[i] - ci * y;
                    re += g[first + i] * x[i];
                    im -= g[first + i] * y;
                }
            }
            dc[2 * (h * N + n)] = 2 * re;
            dc[2 * (h * N + n) + 1] = 2 * im;
        }
    }
}
