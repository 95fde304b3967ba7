#include "native.h"

__attribute__((simd("notinbranch"))) extern float logf(float);
__attribute__((simd("notinbranch"))) extern float sinf(float);
__attribute__((simd("notinbranch"))) extern float cosf(float);

typedef struct {
    uint d, v[5];
    int has_extra;
    float extra;
} State;

enum { W = 64 };  // states side by side, so that gcc makes vectors

static inline uint next(uint last, uint first) {
    uint t = first ^ first >> 2;
    return (last ^ last << 4) ^ (t ^ t << 1);
}

void run(State *restrict states, float *restrict out, int n, int steps, float drift, float vol) {
    for (int b = 0; b < n; b += W) {
        int m = MIN(W, n - b);
        uint d[W] = {0}, v[5][W] = {0};
        float price[W], sum[W] = {0}, odd[W];
        for (int i = 0; i < m; i++) {
            d[i] = states[b + i].d;
            for (int k = 0; k < 5; k++)
                v[k][i] = states[b + i].v[k];
        }
        for (int i = 0; i < W; i++)
            price[i] = 1;
        for (int k = 0; k < steps; k += 2) {
#pragma omp simd
            for (int i = 0; i < W; i++) {
                uint p = next(v[4][i], v[0][i]), q = next(p, v[1][i]);
                uint x = p + d[i] + 362437, y = q + d[i] + 2 * 362437;
                v[0][i] = v[2][i];
                v[1][i] = v[3][i];
                v[2][i] = v[4][i];
                v[3][i] = p;
                v[4][i] = q;
                d[i] += 2 * 362437;
                float a = x * 2.3283064e-10f + 1.1641532e-10f, c = y * 1.4629181e-9f + 7.3145906e-10f;
                float r = sqrtf(-2 * logf(a));
                odd[i] = r * sinf(c);
                price[i] *= expf(drift + vol * r * cosf(c));
                sum[i] += price[i];
                price[i] *= expf(drift + vol * odd[i]);
                sum[i] += price[i];
            }
        }
        for (int i = 0; i < m; i++) {
            out[b + i] = MAX(sum[i] / steps - 1, 0);
            states[b + i].d = d[i];
            for (int k = 0; k < 5; k++)
                states[b + i].v[k] = v[k][i];
            states[b + i].extra = odd[i];
        }
    }
}
