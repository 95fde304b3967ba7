#include "native.h"

enum { D = 32 };

void run(const float *restrict Q, const float *restrict K, const float *restrict V, float *restrict O, int n,
         float scale, int heads) {
    float s[4096];
    for (int h = 0; h < heads; h++) {
        const float *k = K + (long)h * n * D, *v = V + (long)h * n * D;
        for (int i = 0; i < n; i++) {
            const float *q = Q + ((long)h * n + i) * D;
            float most = -INFINITY, sum = 0, acc[D] = {0};
            for (int j = 0; j < n; j++) {
                float x = 0;
#pragma omp simd reduction(+ : x)
                for (int d = 0; d < D; d++)
                    x += q[d] * k[j * D + d];
                s[j] = x * scale;
                most = MAX(most, s[j]);
            }
#pragma omp simd reduction(+ : sum)
            for (int j = 0; j < n; j++) {
                s[j] = expf(s[j] - most);
                sum += s[j];
            }
            for (int j = 0; j < n; j++)
                for (int d = 0; d < D; d++)
                    acc[d] += s[j] * v[j * D + d];
            for (int d = 0; d < D; d++)
                O[((long)h * n + i) * D + d] = acc[d] / sum;
        }
    }
}
