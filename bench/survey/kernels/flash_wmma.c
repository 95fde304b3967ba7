// Causal attention: keys transposed as floats, four queries' scores at a time, then values weighted by them
#include "native.h"
enum { DIM = 64 };

void run(const _Float16 *restrict q, const _Float16 *restrict k, const _Float16 *restrict v, _Float16 *restrict out,
         int n, float scale, int heads) {
    float *kt = malloc(sizeof(float) * n * DIM), *vf = malloc(sizeof(float) * n * DIM), *p = malloc(sizeof(float) * n);
    for (int h = 0; h < heads; h++) {
        size_t head = (size_t)h * n * DIM;
        for (int j = 0; j < n; j++)
            for (int d = 0; d < DIM; d++) {
                kt[(size_t)d * n + j] = k[head + (size_t)j * DIM + d];
                vf[(size_t)j * DIM + d] = v[head + (size_t)j * DIM + d];
            }
        for (int i = 0; i < n; i++) {
            const _Float16 *query = q + head + (size_t)i * DIM;
            int seen = i + 1;
            memset(p, 0, sizeof(float) * seen);
            for (int d = 0; d < DIM; d += 4) {
                float q0 = query[d], q1 = query[d + 1], q2 = query[d + 2], q3 = query[d + 3];
                const float *restrict k0 = kt + (size_t)d * n;
#pragma omp simd
                for (int j = 0; j < seen; j++)
                    p[j] += q0 * k0[j] + q1 * k0[n + j] + q2 * k0[2 * n + j] + q3 * k0[3 * n + j];
            }
            float most = -INFINITY, total = 0, sum[DIM] = {0};
#pragma omp simd reduction(max : most)
            for (int j = 0; j < seen; j++) {
                p[j] *= scale;
                most = MAX(most, p[j]);
            }
#pragma omp simd reduction(+ : total)
            for (int j = 0; j < seen; j++) {
                p[j] = expf(p[j] - most);
                total += p[j];
            }
            for (int j = 0; j < seen; j++)
#pragma omp simd
                for (int d = 0; d < DIM; d++)
                    sum[d] += p[j] * vf[(size_t)j * DIM + d];
            for (int d = 0; d < DIM; d++)
                out[head + (size_t)i * DIM + d] = sum[d] / total;
        }
    }
    free(kt);
    free(vf);
    free(p);
}
