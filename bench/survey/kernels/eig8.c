#include "native.h"

#define N 8
#define LANES 16

typedef float Matrix[N][N][LANES];

static inline void rotate(float *restrict p, float *restrict q, const float *restrict c, const float *restrict s) {
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
        float x = p[l], y = q[l];
        p[l] = c[l] * x - s[l] * y;
        q[l] = s[l] * x + c[l] * y;
    }
}

// A matrix for each lane of a vector.
void run(const float *restrict matrices, float *restrict values, float *restrict vectors, int count, int sweeps) {
    Matrix a, v;
    float c[LANES], s[LANES];
    for (int first = 0; first < count; first += LANES) {
        int lanes = MIN(LANES, count - first);
        for (int l = 0; l < LANES; l++)
            for (int i = 0; i < N * N; i++) {
                a[i / N][i % N][l] = l < lanes ? matrices[(long)(first + l) * N * N + i] : 0;
                v[i / N][i % N][l] = i / N == i % N;
            }
        for (int round = 0; round < sweeps * (N - 1); round++)
            for (int pair = 0; pair < N / 2; pair++) {
                int r = round % (N - 1);
                int x = pair == 0 ? N - 1 : (r + pair) % (N - 1), y = pair == 0 ? r : (r + N - 1 - pair) % (N - 1);
                int p = MIN(x, y), q = MAX(x, y);
#pragma omp simd
                for (int l = 0; l < LANES; l++) {
                    float apq = a[p][q][l], some = fabsf(apq) > 1e-12f ? apq : 1;
                    float theta = (a[q][q][l] - a[p][p][l]) / (2 * some);
                    float t = copysignf(1, theta) / (fabsf(theta) + sqrtf(theta * theta + 1));
                    t = fabsf(apq) > 1e-12f ? t : 0;
                    c[l] = 1 / sqrtf(t * t + 1);
                    s[l] = t * c[l];
                }
                // the four rotations of a round touch no row or column twice, so their order does not matter
                for (int k = 0; k < N; k++)
                    rotate(a[p][k], a[q][k], c, s);
                for (int k = 0; k < N; k++)
                    rotate(a[k][p], a[k][q], c, s);
                for (int k = 0; k < N; k++)
                    rotate(v[k][p], v[k][q], c, s);
            }
        for (int l = 0; l < lanes; l++)
            for (int j = 0; j < N; j++) {
                float mine = a[j][j][l], sign = 0;
                int rank = 0;
                for (int i = 0; i < N; i++) {
                    rank += a[i][i][l] < mine || (a[i][i][l] == mine && i < j);
                    sign += v[i][j][l];
                }
                values[(long)(first + l) * N + rank] = mine;
                for (int i = 0; i < N; i++)
                    vectors[((long)(first + l) * N + i) * N + rank] = sign < 0 ? -v[i][j][l] : v[i][j][l];
            }
    }
}
