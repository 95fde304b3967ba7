#include "native.h"

typedef struct {
    float x, y;
} float2;

enum { W = 16 };  // tracks side by side, so that gcc makes vectors

void run(float *restrict state, float *restrict covariance, const float2 *restrict measured,
         const uchar *restrict valid, int tracks, int times, float dt, float q, float r) {
    float q4 = q * dt * dt * dt * dt / 4, q3 = q * dt * dt * dt / 2, q2 = q * dt * dt;
    for (int first = 0; first < tracks; first += W) {
        int lanes = MIN(W, tracks - first);
        float x[4][W] = {0}, p[4][4][W] = {0};
        for (int l = 0; l < lanes; l++)
            for (int i = 0; i < 4; i++) {
                x[i][l] = state[(first + l) * 4 + i];
                for (int j = 0; j < 4; j++)
                    p[i][j][l] = covariance[(first + l) * 16 + i * 4 + j];
            }
        for (int t = 0; t < times; t++) {
            const float2 *z = measured + (long)t * tracks + first;
            const uchar *seen = valid + (long)t * tracks + first;
            // what is known to be 0 or 1 of the matrices is left out
            for (int i = 0; i < 2; i++)
#pragma omp simd
                for (int l = 0; l < W; l++)
                    x[i][l] += dt * x[i + 2][l];
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++)
#pragma omp simd
                    for (int l = 0; l < W; l++)
                        p[i][j][l] += dt * p[i + 2][j][l];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 2; j++)
#pragma omp simd
                    for (int l = 0; l < W; l++)
                        p[i][j][l] += dt * p[i][j + 2][l];
            for (int i = 0; i < 2; i++)
#pragma omp simd
                for (int l = 0; l < W; l++) {
                    p[i][i][l] += q4;
                    p[i][i + 2][l] += q3;
                    p[i + 2][i][l] += q3;
                    p[i + 2][i + 2][l] += q2;
                }
            float y[2][W] = {0}, inv[W] = {0}, k[4][2][W], top[2][4][W];
            for (int l = 0; l < lanes; l++)
                if (seen[l]) {
                    y[0][l] = z[l].x - x[0][l];
                    y[1][l] = z[l].y - x[1][l];
                    inv[l] = 1;
                }
#pragma omp simd
            for (int l = 0; l < W; l++)
                inv[l] /= (p[0][0][l] + r) * (p[1][1][l] + r) - p[0][1][l] * p[1][0][l];
            for (int i = 0; i < 4; i++)
#pragma omp simd
                for (int l = 0; l < W; l++) {
                    k[i][0][l] = (p[i][0][l] * (p[1][1][l] + r) - p[i][1][l] * p[1][0][l]) * inv[l];
                    k[i][1][l] = (p[i][1][l] * (p[0][0][l] + r) - p[i][0][l] * p[0][1][l]) * inv[l];
                    x[i][l] += k[i][0][l] * y[0][l] + k[i][1][l] * y[1][l];
                }
            memcpy(top, p, sizeof top);
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
#pragma omp simd
                    for (int l = 0; l < W; l++)
                        p[i][j][l] -= k[i][0][l] * top[0][j][l] + k[i][1][l] * top[1][j][l];
        }
        for (int l = 0; l < lanes; l++)
            for (int i = 0; i < 4; i++) {
                state[(first + l) * 4 + i] = x[i][l];
                for (int j = 0; j < 4; j++)
                    covariance[(first + l) * 16 + i * 4 + j] = p[i][j][l];
            }
    }
}
