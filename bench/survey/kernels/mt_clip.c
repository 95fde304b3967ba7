// Adagrad with decoupled decay on many tensors, gradients clipped by the norm of all.
#include "native.h"

void run(const float *restrict grads, const int64_t *restrict start, const int64_t *restrict sizes,
         float *restrict params, float *restrict state, float *restrict norm, int tensors, float max_norm, float lr,
         float eps, float decay) {
    double total = 0;
    for (int t = 0; t < tensors; t++) {
        const float *g = grads + start[t];
        float s = 0;
#pragma omp simd reduction(+ : s)
        for (long i = 0; i < sizes[t]; i++)
            s += g[i] * g[i];
        total += s;
    }
    *norm = sqrt(total);
    float clip = fminf(1, max_norm / (*norm + 1e-6f));
    for (int t = 0; t < tensors; t++) {
        const float *g = grads + start[t];
        float *p = params + start[t], *h = state + start[t];
#pragma omp simd
        for (long i = 0; i < sizes[t]; i++) {
            float v = g[i] * clip, sum = h[i] + v * v;
            h[i] = sum;
            p[i] -= lr * (v / (sqrtf(sum) + eps) + decay * p[i]);
        }
    }
}
