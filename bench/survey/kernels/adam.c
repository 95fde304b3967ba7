#include "native.h"

void run(float *restrict p, const float *restrict g, float *restrict m, float *restrict v, int n, float lr, float b1, float b2, float eps, float c1, float c2) {
    for (int i = 0; i < n; i++) {
        float d = g[i], a = b1 * m[i] + (1 - b1) * d, s = b2 * v[i] + (1 - b2) * d * d;
        m[i] = a;
        v[i] = s;
        p[i] -= lr * (a * c1) / (sqrtf(s * c2) + eps);
    }
}
