// Mersenne twisters of 607 bits with parameters of their own, and Box-Muller on what they give.
#include "native.h"

__attribute__((simd("notinbranch"))) extern float logf(float);
__attribute__((simd("notinbranch"))) extern float cosf(float);

enum { MM = 9, NN = 19, W = 64 };  // twisters side by side

void run(float *restrict out, const uint *restrict params, int rngs, int per_rng) {
    for (int first = 0; first < rngs; first += W) {
        int lanes = MIN(W, rngs - first);
        uint mt[NN][W] = {0}, matrix_a[W] = {0}, mask_b[W] = {0}, mask_c[W] = {0};
        for (int i = 0; i < lanes; i++) {
            const uint *p = params + 4 * (first + i);
            matrix_a[i] = p[0];
            mask_b[i] = p[1];
            mask_c[i] = p[2];
            mt[0][i] = p[3];
        }
        for (int s = 1; s < NN; s++)
            for (int i = 0; i < W; i++)
                mt[s][i] = 1812433253u * (mt[s - 1][i] ^ mt[s - 1][i] >> 30) + s;
        float pair[2][W];
        for (int k = 0, s = 0; k < per_rng; k++) {
            int s1 = s + 1 < NN ? s + 1 : 0, sm = s + MM < NN ? s + MM : s + MM - NN;
            uint *restrict mine = mt[s];
            const uint *next = mt[s1], *middle = mt[sm];
            float *u = pair[k % 2];
#pragma omp simd
            for (int i = 0; i < W; i++) {
                uint x = (mine[i] & ~1u) | (next[i] & 1);
                x = middle[i] ^ x >> 1 ^ (-(x & 1) & matrix_a[i]);
                mine[i] = x;
                x ^= x >> 12;
                x ^= x << 7 & mask_b[i];
                x ^= x << 15 & mask_c[i];
                x ^= x >> 18;
                u[i] = ((float)x + 1) * (1 / 4294967296.0f);
            }
            s = s1;
            if (k % 2 == 0)
                continue;
#pragma omp simd
            for (int i = 0; i < W; i++) {
                float r = sqrtf(-2 * logf(pair[0][i])), phi = 6.2831853f * pair[1][i];
                pair[0][i] = r * cosf(phi);
                pair[1][i] = r * cosf(phi - 1.5707963f);  // gcc has no vectors for sincosf
            }
            for (int j = 0; j < 2; j++)
                memcpy(out + (size_t)(k - 1 + j) * rngs + first, pair[j], lanes * sizeof(float));
        }
    }
}
