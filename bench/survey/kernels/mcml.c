// Light in layers of tissue by Monte Carlo, a packet after the other.
#include "native.h"
enum { LAYERS = 3 };
#define UNIT 65536.0f

typedef struct {
    float above, below, mu_a, mu_s, g, index, mu, inv_mu, share;
} Layer;
static Layer layers[LAYERS] = {
    {0.0f, 0.02f, 2.0f, 60.0f, 0.8f, 1.5f},
    {0.02f, 0.12f, 0.8f, 90.0f, 0.75f, 1.4f},
    {0.12f, 0.3f, 1.5f, 50.0f, 0.9f, 1.44f},
};

static inline float uniform(ull *state) {
    *state = (*state & 0xffffffffull) * 4294883355ull + (*state >> 32);
    return (int)((uint)*state >> 8) * (1.0f / 16777216);
}

static inline float fresnel(float n1, float n2, float c, float *into) {
    if (n1 == n2) {
        *into = c;
        return 0;
    }
    float s2 = (n1 / n2) * (n1 / n2) * (1 - c * c);
    if (s2 >= 1) {
        *into = 0;
        return 1;
    }
    float b = *into = sqrtf(1 - s2);
    float rs = (n1 * c - n2 * b) / (n1 * c + n2 * b), rp = (n1 * b - n2 * c) / (n1 * b + n2 * c);
    return 0.5f * (rs * rs + rp * rp);
}

void run(ull *restrict absorbed, ull *restrict escaped, int photons, int nr, int nz, float dr, float dz, uint seed) {
    for (int k = 0; k < LAYERS; k++) {
        Layer *l = layers + k;
        l->mu = l->mu_a + l->mu_s, l->inv_mu = 1 / l->mu, l->share = l->mu_a / l->mu;
    }
    float inv_dr = 1 / dr, inv_dz = 1 / dz, n0 = layers[0].index, first = (1 - n0) / (1 + n0);
    for (int id = 0; id < photons; id++) {
        ull state = (ull)((uint)id * 2654435761u ^ seed) << 32 | (id + 1u);
        for (int k = 0; k < 4; k++)
            uniform(&state);
        float x = 0, y = 0, z = 0, wx = 0, wy = 0, wz = 1, weight = 1 - first * first, left = 0;
        const Layer *here = layers;
        while (weight > 0) {
            if (left == 0)
                left = -logf(uniform(&state) + 1e-8f);
            float step = left * here->inv_mu;
            int down = wz > 0;
            float edge = down ? here->below : here->above, border = wz == 0 ? 1e30f : (edge - z) / wz;
            if (step > border) {
                x += border * wx, y += border * wy, z = edge;
                left -= border * here->mu;
                const Layer *next = here + (down ? 1 : -1);
                int outside = next < layers || next >= layers + LAYERS;
                float n1 = here->index, n2 = outside ? 1 : next->index, into;
                float reflected = fresnel(n1, n2, fabsf(wz), &into);
                if (uniform(&state) < reflected) {
                    wz = -wz;
                } else if (outside) {
                    escaped[down] += (uint)(weight * UNIT);
                    weight = 0;
                } else {
                    wx *= n1 / n2, wy *= n1 / n2, wz = down ? into : -into;
                    here = next;
                }
                continue;
            }
            x += step * wx, y += step * wy, z += step * wz;
            left = 0;
            float lost = weight * here->share;
            weight -= lost;
            int r = MIN((int)(sqrtf(x * x + y * y) * inv_dr), nr - 1), d = MIN((int)(z * inv_dz), nz - 1);
            absorbed[d * nr + r] += (uint)(lost * UNIT);

            float g = here->g, cost;
            if (g == 0) {
                cost = 2 * uniform(&state) - 1;
            } else {
                float t = (1 - g * g) / (1 - g + 2 * g * uniform(&state));
                cost = (1 + g * g - t * t) / (2 * g);
            }
            cost = cost < -1 ? -1 : cost > 1 ? 1 : cost;
            float sint = sqrtf(1 - cost * cost), sinp, cosp;
            sincosf(6.2831853f * uniform(&state), &sinp, &cosp);
            if (fabsf(wz) > 0.99999f) {
                wx = sint * cosp, wy = sint * sinp, wz = copysignf(cost, wz * cost);
            } else {
                float root = sqrtf(1 - wz * wz), k = sint / root;
                float nx = k * (wx * wz * cosp - wy * sinp) + wx * cost;
                wy = k * (wy * wz * cosp + wx * sinp) + wy * cost;
                wz = -sint * cosp * root + wz * cost;
                wx = nx;
            }
            if (weight < 0.01f)
                weight = uniform(&state) < 0.1f ? weight * 10 : 0;
        }
    }
}
