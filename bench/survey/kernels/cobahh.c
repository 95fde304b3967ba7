#include "native.h"

// A network of Hodgkin-Huxley neurons with conductances for synapses.
#define G_L 10e-9f
#define V_T -63e-3f

static inline float exprel(float x, float y) {
    float ratio = x / y, e = x / (expf(ratio) - 1), limit = y * (1 - 0.5f * ratio);
    return fabsf(ratio) < 1e-4f ? limit : e;
}

static inline float relax(float now, float rise, float fall, float dt) {
    float total = rise + fall, goal = rise / total;
    return goal + (now - goal) * expf(-dt * total);
}

void run(float *restrict v, float *restrict ge, float *restrict gi, float *restrict m, float *restrict n,
         float *restrict h, const float *restrict current, float *restrict last_spike, int *restrict fired,
         const int *restrict target, int count, int fan, int excitatory, float dt, int steps) {
    uint *add_e = calloc(2 * count, sizeof(uint)), *add_i = add_e + count;
    float keep_e = expf(-dt / 5e-3f), keep_i = expf(-dt / 10e-3f);
    for (int step = 0; step < steps; step++) {
        float t = step * dt;
#pragma omp simd
        for (int i = 0; i < count; i++) {
            float u = (v[i] - V_T) * 1e3f;
            float mi = relax(m[i], 0.32e3f * exprel(13 - u, 4), 0.28e3f * exprel(u - 40, 5), dt);
            float ni = relax(n[i], 0.032e3f * exprel(15 - u, 5), 0.5e3f * expf((10 - u) / 40), dt);
            float hi = relax(h[i], 0.128e3f * expf((17 - u) / 18), 4e3f / (1 + expf((40 - u) / 5)), dt);
            float na = 20e-6f * mi * mi * mi * hi, kd = 6e-6f * ni * ni * ni * ni, total = G_L + ge[i] + gi[i] + na + kd;
            float goal = (G_L * -60e-3f + gi[i] * -80e-3f + na * 50e-3f + kd * -90e-3f + current[i]) / total;
            v[i] = goal + (v[i] - goal) * expf(-dt * total / 200e-12f);
            m[i] = mi;
            n[i] = ni;
            h[i] = hi;
            ge[i] *= keep_e;
            gi[i] *= keep_i;
        }
        for (int i = 0; i < count; i++)
            if (v[i] > -20e-3f && !(t - last_spike[i] < 3e-3f)) {
                last_spike[i] = t;
                fired[i]++;
                uint *add = i < excitatory ? add_e : add_i, weight = i < excitatory ? 24 : 268;
                for (int k = 0; k < fan; k++)
                    add[target[(size_t)i * fan + k]] += weight;
            }
        for (int i = 0; i < count; i++) {
            ge[i] += (int)add_e[i] * 0.25e-9f;
            gi[i] += (int)add_i[i] * 0.25e-9f;
        }
        memset(add_e, 0, 2 * count * sizeof(uint));
    }
    free(add_e);
}
