// Distances of all pairs of rows under four norms, and the gradient of the second of them.
#include "native.h"

__attribute__((simd("notinbranch"))) extern float powf(float, float);

void run(const float *restrict x1, const float *restrict x2, const float *restrict grad, float *restrict one,
         float *restrict two, float *restrict general, float *restrict inf, float *restrict gx, float p, long long r1,
         long long r2, long long m) {
    for (long i = 0; i < r1; i++) {
        const float *a = x1 + i * m;
        float *g = gx + i * m;
        memset(g, 0, m * sizeof(float));
        for (long j = 0; j < r2; j++) {
            const float *b = x2 + j * m;
            float s1 = 0, s2 = 0, sp = 0, si = 0;
#pragma omp simd reduction(+ : s1, s2, sp) reduction(max : si)
            for (long k = 0; k < m; k++) {
                float d = fabsf(a[k] - b[k]);
                s1 += d;
                s2 += d * d;
                sp += powf(d, p);
                si = d > si ? d : si;
            }
            float d = sqrtf(s2), f = d == 0 ? 0 : grad[i * r2 + j] / d;
            one[i * r2 + j] = s1;
            two[i * r2 + j] = d;
            general[i * r2 + j] = powf(sp, 1 / p);
            inf[i * r2 + j] = si;
#pragma omp simd
            for (long k = 0; k < m; k++)
                g[k] += f * (a[k] - b[k]);
        }
    }
}
