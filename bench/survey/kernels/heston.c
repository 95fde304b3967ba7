#include "native.h"

__attribute__((simd("notinbranch"))) extern float logf(float);
__attribute__((simd("notinbranch"))) extern float cosf(float);

enum { BLOCK = 256, W = 64 };  // paths side by side, so that gcc makes vectors

static inline uint next(uint s) {
    s ^= s << 13;
    s ^= s >> 17;
    return s ^ s << 5;
}

static inline float uniform(uint s) {
    return (int)((s >> 8) + 1) * (1.0f / 16777216);
}

void run(float *restrict sums, float *restrict squares, int paths, int steps, uint seed, float s0, float v0,
         float strike, float rate, float maturity, float kappa, float theta, float xi, float rho) {
    float dt = maturity / steps, sqrt_dt = sqrtf(dt), rho_rest = sqrtf(1 - rho * rho);
    float discount = expf(-rate * maturity);
    for (int block = 0; block * BLOCK < paths; block++) {
        float sum = 0, square = 0;
        for (int first = block * BLOCK; first < MIN(paths, (block + 1) * BLOCK); first += W) {
            uint state[W];
            float s[W], v[W];
            for (int i = 0; i < W; i++) {
                uint h = (seed ^ (first + i)) * 2654435761u;
                h ^= h >> 16;
                h *= 0x85ebca6bu;
                h ^= h >> 13;
                state[i] = h ? h : 1;
                s[i] = s0;
                v[i] = v0;
            }
            for (int k = 0; k < steps; k++) {
#pragma omp simd
                for (int i = 0; i < W; i++) {
                    uint a = next(state[i]), b = next(a);
                    state[i] = b;
                    float r = sqrtf(-2 * logf(uniform(a))), angle = 6.2831853f * uniform(b);
                    float z1 = r * cosf(angle), z2 = r * cosf(angle - 1.5707963f);  // gcc has no vectors for sincosf
                    float zv = rho * z1 + rho_rest * z2;
                    float v_plus = v[i] > 0 ? v[i] : 0, root = sqrtf(v_plus);
                    s[i] *= expf((rate - 0.5f * v_plus) * dt + root * sqrt_dt * z1);
                    v[i] += kappa * (theta - v_plus) * dt + xi * root * sqrt_dt * zv;
                }
            }
            int lanes = MIN(W, paths - first);
#pragma omp simd reduction(+ : sum, square)
            for (int i = 0; i < lanes; i++) {
                float payoff = discount * (s[i] > strike ? s[i] - strike : 0);
                sum += payoff;
                square += payoff * payoff;
            }
        }
        sums[block] = sum;
        squares[block] = square;
    }
}
