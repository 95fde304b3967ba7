// One-sided Jacobi for many 32 x 16 matrices, in the same rounds; columns are rows here, which are vectors.
#include "native.h"
enum { ROWS = 32, COLS = 16, MAX_SWEEPS = 12 };

void run(const float *restrict matrices, float *restrict u, float *restrict sigma, float *restrict v, float eps,
         int count) {
    for (long which = 0; which < count; which++) {
        float a[COLS][ROWS], w[COLS][COLS] = {0}, norm[COLS];
        const float *from = matrices + which * ROWS * COLS;
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLS; j++)
                a[j][i] = from[i * COLS + j];
        for (int j = 0; j < COLS; j++)
            w[j][j] = 1;
        for (int sweep = 0, rotated = 1; sweep < MAX_SWEEPS && rotated; sweep++) {
            rotated = 0;
            for (int round = 0; round < COLS - 1; round++)
                for (int pair = 0; pair < COLS / 2; pair++) {
                    int i = (round + pair) % (COLS - 1), j = (round - pair + COLS - 1) % (COLS - 1);
                    if (pair == 0)
                        j = COLS - 1;
                    float *restrict x = a[MIN(i, j)], *restrict y = a[MAX(i, j)];
                    float alpha = 0, beta = 0, gamma = 0;
#pragma omp simd reduction(+ : alpha, beta, gamma)
                    for (int k = 0; k < ROWS; k++) {
                        alpha += x[k] * x[k];
                        beta += y[k] * y[k];
                        gamma += x[k] * y[k];
                    }
                    if (fabsf(gamma) <= eps * sqrtf(alpha * beta))
                        continue;
                    rotated = 1;
                    float zeta = (beta - alpha) / (2 * gamma);
                    float t = copysignf(1, zeta) / (fabsf(zeta) + sqrtf(1 + zeta * zeta));
                    float c = 1 / sqrtf(1 + t * t), s = c * t;
#pragma omp simd
                    for (int k = 0; k < ROWS; k++) {
                        float xk = x[k], yk = y[k];
                        x[k] = c * xk - s * yk;
                        y[k] = s * xk + c * yk;
                    }
                    float *restrict vp = w[MIN(i, j)], *restrict vq = w[MAX(i, j)];
#pragma omp simd
                    for (int k = 0; k < COLS; k++) {
                        float xk = vp[k], yk = vq[k];
                        vp[k] = c * xk - s * yk;
                        vq[k] = s * xk + c * yk;
                    }
                }
        }
        for (int j = 0; j < COLS; j++) {
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int k = 0; k < ROWS; k++)
                sum += a[j][k] * a[j][k];
            norm[j] = sqrtf(sum);
        }
        for (int j = 0; j < COLS; j++) {
            int rank = 0;
            for (int i = 0; i < COLS; i++)
                rank += norm[i] > norm[j] || (norm[i] == norm[j] && i < j);
            long to = which * COLS + rank;
            sigma[to] = norm[j];
            for (int k = 0; k < ROWS; k++)
                u[to * ROWS + k] = norm[j] > 0 ? a[j][k] / norm[j] : 0;
            memcpy(v + to * COLS, w[j], sizeof w[j]);
        }
    }
}
