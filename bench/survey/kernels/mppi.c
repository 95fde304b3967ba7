#include "native.h"
#define T 40

static const float obstacles[6][3] = {{6, 1, 1.2f}, {10, -2, 1.5f}, {13, 2, 1}, {17, 0, 1.3f}, {9, 4, 1}, {20, 3, 2}};

__attribute__((simd("notinbranch"))) extern float sinf(float);
__attribute__((simd("notinbranch"))) extern float cosf(float);
__attribute__((simd("notinbranch"))) extern float tanf(float);
__attribute__((simd("notinbranch"))) extern float logf(float);

static inline uint pcg(uint x) {
    x = x * 747796405u + 2891336453u;
    x = ((x >> ((x >> 28) + 4)) ^ x) * 277803737u;
    return x ^ x >> 22;
}

static inline float clamp(float v, float low, float high) {
    v = v < low ? low : v;
    return v > high ? high : v;
}

// Sixteen cars side by side.
void run(float *restrict mean, float *restrict noise, float *restrict cost, int *restrict least,
         const float *restrict start, int samples, float dt, float wanted_speed, uint seed, float lambda) {
    float best = INFINITY;
    for (int k0 = 0; k0 < samples; k0 += 16) {
        float x[16], y[16], heading[16], speed[16], sum[16];
        int n = MIN(16, samples - k0);
        for (int j = 0; j < 16; j++)
            x[j] = start[0], y[j] = start[1], heading[j] = start[2], speed[j] = start[3], sum[j] = 0;
        for (int t = 0; t < T; t++) {
            float ex[16], ey[16], r[16], angle[16], wanted[16], push[16];
            // Sines and cosines in loops of their own: together they would be one call that has no vectors.
#pragma omp simd
            for (int j = 0; j < 16; j++) {
                uint i = seed + t * samples + k0 + j;
                float u = (int)((pcg(2 * i) >> 8) + 1) * (1.0f / 16777216.0f);
                angle[j] = 6.2831853f * ((int)(pcg(2 * i + 1) >> 8) * (1.0f / 16777216.0f));
                r[j] = sqrtf(-2 * logf(u));
            }
#pragma omp simd
            for (int j = 0; j < 16; j++) {
                ex[j] = r[j] * cosf(angle[j]) * 0.15f;
                x[j] += dt * speed[j] * cosf(heading[j]);
            }
#pragma omp simd
            for (int j = 0; j < 16; j++) {
                ey[j] = r[j] * sinf(angle[j]);
                y[j] += dt * speed[j] * sinf(heading[j]);
            }
#pragma omp simd
            for (int j = 0; j < 16; j++) {
                float c = 0;
                wanted[j] = mean[2 * t] + ex[j];
                push[j] = clamp(mean[2 * t + 1] + ey[j], -4, 3);
                heading[j] += dt * speed[j] * tanf(clamp(wanted[j], -0.6f, 0.6f)) / 2.5f;
                speed[j] = clamp(speed[j] + dt * push[j], 0, 12);
                float dv = speed[j] - wanted_speed;
                c = 0.5f * y[j] * y[j] + 0.2f * dv * dv + 0.5f * wanted[j] * wanted[j];
#pragma GCC unroll 6
                for (int o = 0; o < 6; o++) {
                    float dx = x[j] - obstacles[o][0], dy = y[j] - obstacles[o][1];
                    float gap = sqrtf(dx * dx + dy * dy) - obstacles[o][2];
                    float in = 1 - gap > 0 ? 1 - gap : 0, near = 10 * in * in;
                    c += gap < 0 ? 30 : near;
                }
                sum[j] += c;
            }
            for (int j = 0; j < n; j++)
                noise[2L * (t * samples + k0 + j)] = ex[j], noise[2L * (t * samples + k0 + j) + 1] = ey[j];
        }
        for (int j = 0; j < n; j++)
            cost[k0 + j] = sum[j], best = fminf(best, sum[j]);
    }
    memcpy(least, &best, 4);
    float *weight = malloc(samples * sizeof(float)), total = 0;
#pragma omp simd reduction(+ : total)
    for (int k = 0; k < samples; k++)
        total += weight[k] = expf(-(cost[k] - best) / lambda);
    for (int t = 0; t < T; t++) {
        float sx = 0, sy = 0;
#pragma omp simd reduction(+ : sx, sy)
        for (int k = 0; k < samples; k++)
            sx += weight[k] * noise[2L * (t * samples + k)], sy += weight[k] * noise[2L * (t * samples + k) + 1];
        mean[2 * t] += sx / total, mean[2 * t + 1] += sy / total;
    }
    free(weight);
}
