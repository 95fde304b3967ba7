// Fits of parabolas with weights: least squares of small systems by Givens rotations, 16 systems side by side.
#include "native.h"
enum { ROWS = 8, UNKNOWNS = 3, W = 16 };

void run(const float *restrict samples, float *restrict coefficients, float *restrict residual, int systems) {
    for (int first = 0; first < systems; first += W) {
        int lanes = MIN(W, systems - first);
        float a[ROWS][UNKNOWNS + 1][W];
        for (int l = 0; l < W; l++) {
            const float *p = samples + 3L * ROWS * (first + MIN(l, lanes - 1));
            for (int i = 0; i < ROWS; i++, p += 3) {
                a[i][0][l] = p[2];
                a[i][1][l] = p[2] * p[0];
                a[i][2][l] = p[2] * p[0] * p[0];
                a[i][3][l] = p[2] * p[1];
            }
        }
        for (int j = 0; j < UNKNOWNS; j++)
            for (int i = ROWS - 1; i > j; i--) {
                float c[W], s[W];
#pragma omp simd
                for (int l = 0; l < W; l++) {
                    float x = a[i - 1][j][l], y = a[i][j][l], r = sqrtf(x * x + y * y);
                    c[l] = y == 0 ? 1 : x / r;
                    s[l] = y == 0 ? 0 : y / r;
                }
                for (int k = j; k <= UNKNOWNS; k++)
#pragma omp simd
                    for (int l = 0; l < W; l++) {
                        float x = a[i - 1][k][l], y = a[i][k][l];
                        a[i - 1][k][l] = c[l] * x + s[l] * y;
                        a[i][k][l] = c[l] * y - s[l] * x;
                    }
            }
        float out[UNKNOWNS][W], rest[W] = {0};
        for (int i = UNKNOWNS - 1; i >= 0; i--)
#pragma omp simd
            for (int l = 0; l < W; l++) {
                float sum = a[i][UNKNOWNS][l];
                for (int j = i + 1; j < UNKNOWNS; j++)
                    sum -= a[i][j][l] * out[j][l];
                out[i][l] = sum / a[i][i][l];
            }
        for (int i = UNKNOWNS; i < ROWS; i++)
#pragma omp simd
            for (int l = 0; l < W; l++)
                rest[l] += a[i][UNKNOWNS][l] * a[i][UNKNOWNS][l];
        for (int l = 0; l < lanes; l++) {
            for (int i = 0; i < UNKNOWNS; i++)
                coefficients[(first + l) * UNKNOWNS + i] = out[i][l];
            residual[first + l] = sqrtf(rest[l]);
        }
    }
}
