// Orbitals as cubic B-splines in three dimensions: values, gradients and second derivatives where walkers are.
#include "native.h"

enum { W = 32 };  // orbitals side by side

static void weights(float t, float w[3][4]) {
    float s = 1 - t;
    w[0][0] = s * s * s / 6;
    w[0][1] = (3 * t * t * t - 6 * t * t + 4) / 6;
    w[0][2] = (3 * s * s * s - 6 * s * s + 4) / 6;
    w[0][3] = t * t * t / 6;
    w[1][0] = -s * s / 2;
    w[1][1] = 1.5f * t * t - 2 * t;
    w[1][2] = -1.5f * s * s + 2 * s;
    w[1][3] = t * t / 2;
    w[2][0] = s;
    w[2][1] = 3 * t - 2;
    w[2][2] = 3 * s - 2;
    w[2][3] = t;
}

void run(const float *restrict positions, const float *restrict coefs, float *restrict vals, float *restrict grads,
         float *restrict hess, int walkers, int orbitals, int n, float inv) {
    size_t sz = orbitals, sy = sz * (n + 3), sx = sy * (n + 3);
    for (int walker = 0; walker < walkers; walker++) {
        float w[3][3][4];
        size_t start = 0, strides[3] = {sx, sy, sz};
        for (int d = 0; d < 3; d++) {
            float u = positions[3 * walker + d] * inv;
            u -= floorf(u / n) * n;
            int whole = MIN(MAX((int)u, 0), n - 1);
            weights(u - whole, w[d]);
            start += whole * strides[d];
        }
        for (int first = 0; first < orbitals; first += W) {
            int lanes = MIN(W, orbitals - first);
            float sum[10][W] = {0};
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) {
                    const float *line = coefs + start + i * sx + j * sy + first;
                    float a = w[0][0][i], da = w[0][1][i], dda = w[0][2][i];
                    float b = w[1][0][j], db = w[1][1][j], ddb = w[1][2][j];
#pragma omp simd
                    for (int o = 0; o < lanes; o++) {
                        float c0 = 0, c1 = 0, c2 = 0;
                        for (int k = 0; k < 4; k++) {
                            float c = line[k * sz + o];
                            c0 += w[2][0][k] * c;
                            c1 += w[2][1][k] * c;
                            c2 += w[2][2][k] * c;
                        }
                        sum[0][o] += a * b * c0;
                        sum[1][o] += da * b * c0;
                        sum[2][o] += a * db * c0;
                        sum[3][o] += a * b * c1;
                        sum[4][o] += dda * b * c0;
                        sum[5][o] += da * db * c0;
                        sum[6][o] += da * b * c1;
                        sum[7][o] += a * ddb * c0;
                        sum[8][o] += a * db * c1;
                        sum[9][o] += a * b * c2;
                    }
                }
            for (int o = 0; o < lanes; o++) {
                size_t at = (size_t)walker * orbitals + first + o;
                vals[at] = sum[0][o];
                for (int d = 0; d < 3; d++)
                    grads[(3 * (size_t)walker + d) * orbitals + first + o] = sum[1 + d][o] * inv;
                for (int d = 0; d < 6; d++)
                    hess[6 * at + d] = sum[4 + d][o] * inv * inv;
            }
        }
    }
}
