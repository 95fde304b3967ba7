#include "native.h"

void run(const float *restrict a, const float *restrict b, float *restrict k, int n, int m, int dim, float gamma) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            float s = 0;
            for (int d = 0; d < dim; d++) {
                float v = a[i * dim + d] - b[j * dim + d];
                s += v * v;
            }
            k[i * m + j] = s;
        }
#pragma omp simd
        for (int j = 0; j < m; j++)
            k[i * m + j] = expf(-gamma * k[i * m + j]);
    }
}
