#include "native.h"

static inline float sig(float x) { return 1.0f / (1.0f + expf(-x)); }
void run(const float *restrict gates, float *restrict c, float *restrict h, int batch, int dim) {
    for (int b = 0; b < batch; b++) {
        const float *g = gates + b * 4 * dim;
#pragma omp simd
        for (int j = 0; j < dim; j++) {
            float v = sig(g[dim + j]) * c[b * dim + j] + sig(g[j]) * tanhf(g[2 * dim + j]);
            c[b * dim + j] = v;
            h[b * dim + j] = sig(g[3 * dim + j]) * tanhf(v);
        }
    }
}
