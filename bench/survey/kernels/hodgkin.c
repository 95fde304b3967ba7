#include "native.h"

typedef struct {
    float m, h, n;
} Gates;

enum { W = 64 };  // neurons side by side, so that gcc makes vectors

static inline float linoid(float x) {
    float y = x / (1 - expf(-x));
    return fabsf(x) < 1e-3f ? 1 + 0.5f * x : y;
}

void run(float *restrict voltage, Gates *restrict gates, const float *restrict current, int *restrict spikes,
         int neurons, int steps, float dt) {
    for (int first = 0; first < neurons; first += W) {
        int lanes = MIN(W, neurons - first), count[W] = {0};
        float v[W] = {0}, m[W] = {0}, h[W] = {0}, n[W] = {0}, injected[W] = {0};
        for (int i = 0; i < lanes; i++) {
            v[i] = voltage[first + i];
            m[i] = gates[first + i].m;
            h[i] = gates[first + i].h;
            n[i] = gates[first + i].n;
            injected[i] = current[first + i];
        }
        for (int step = 0; step < steps; step++) {
#pragma omp simd
            for (int i = 0; i < W; i++) {
                float u = v[i];
                float alpha_m = linoid((u + 40) / 10), beta_m = 4 * expf(-(u + 65) / 18);
                float alpha_h = 0.07f * expf(-(u + 65) / 20), beta_h = 1 / (1 + expf(-(u + 35) / 10));
                float alpha_n = 0.1f * linoid((u + 55) / 10), beta_n = 0.125f * expf(-(u + 65) / 80);
                float i_na = 120 * m[i] * m[i] * m[i] * h[i] * (u - 50);
                float i_k = 36 * n[i] * n[i] * n[i] * n[i] * (u + 77);
                float i_leak = 0.3f * (u + 54.387f);
                v[i] = u + dt * (injected[i] - i_na - i_k - i_leak);
                m[i] += dt * (alpha_m * (1 - m[i]) - beta_m * m[i]);
                h[i] += dt * (alpha_h * (1 - h[i]) - beta_h * h[i]);
                n[i] += dt * (alpha_n * (1 - n[i]) - beta_n * n[i]);
                count[i] += (v[i] > 0) & !(u > 0);
            }
        }
        for (int i = 0; i < lanes; i++) {
            voltage[first + i] = v[i];
            gates[first + i] = (Gates){m[i], h[i], n[i]};
            spikes[first + i] = count[i];
        }
    }
}
