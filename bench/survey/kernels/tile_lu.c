#include "native.h"
#define N 8

static void factors_of(float m[N][N], int *pivots) {
    for (int k = 0; k < N; k++) {
        int p = k;
        for (int i = k + 1; i < N; i++)
            if (fabsf(m[i][k]) > fabsf(m[p][k]))
                p = i;
        pivots[k] = p;
        for (int c = 0; c < N; c++) {
            float t = m[k][c];
            m[k][c] = m[p][c];
            m[p][c] = t;
        }
        for (int i = k + 1; i < N; i++) {
            m[i][k] /= m[k][k];
            for (int c = k + 1; c < N; c++)
                m[i][c] -= m[i][k] * m[k][c];
        }
    }
}

void run(const float *restrict a, float *restrict factors, int *restrict pivots, int n) {
    memcpy(factors, a, sizeof(float) * N * N * n);
    for (int i = 0; i < n; i++)
        factors_of((float(*)[N])(factors + i * N * N), pivots + i * N);
}
