#include "native.h"

#define N 256

// Real and imaginary parts apart; `w` has the factors of a step, three for each k.
static inline __attribute__((always_inline)) void step(const float *restrict x, const float *restrict y,
                                                       float *restrict to_x, float *restrict to_y,
                                                       const float (*restrict w)[N / 4], int s, float direction) {
    for (int j = 0; j < N / 4; j += s)
#pragma omp simd
        for (int k = 0; k < s; k++) {
            int i = j + k, o = 4 * j + k;
            float x0 = x[i], x1 = x[i + N / 4], x2 = x[i + N / 2], x3 = x[i + 3 * N / 4];
            float y0 = y[i], y1 = y[i + N / 4], y2 = y[i + N / 2], y3 = y[i + 3 * N / 4];
            float u1 = x1 * w[0][k] - y1 * w[1][k], v1 = x1 * w[1][k] + y1 * w[0][k];
            float u2 = x2 * w[2][k] - y2 * w[3][k], v2 = x2 * w[3][k] + y2 * w[2][k];
            float u3 = x3 * w[4][k] - y3 * w[5][k], v3 = x3 * w[5][k] + y3 * w[4][k];
            float ax = x0 + u2, ay = y0 + v2, bx = x0 - u2, by = y0 - v2;
            float cx = u1 + u3, cy = v1 + v3, dx = -direction * (v1 - v3), dy = direction * (u1 - u3);
            to_x[o] = ax + cx, to_y[o] = ay + cy;
            to_x[o + s] = bx + dx, to_y[o + s] = by + dy;
            to_x[o + 2 * s] = ax - cx, to_y[o + 2 * s] = ay - cy;
            to_x[o + 3 * s] = bx - dx, to_y[o + 3 * s] = by - dy;
        }
}

// The first step has no factors, and its results lie by fours.
static inline void first(const float *restrict z, float *restrict to_x, float *restrict to_y, float direction) {
#pragma omp simd
    for (int i = 0; i < N / 4; i++) {
        float x0 = z[2 * i], x1 = z[2 * i + N / 2], x2 = z[2 * i + N], x3 = z[2 * i + 3 * N / 2];
        float y0 = z[2 * i + 1], y1 = z[2 * i + 1 + N / 2], y2 = z[2 * i + 1 + N], y3 = z[2 * i + 1 + 3 * N / 2];
        float ax = x0 + x2, ay = y0 + y2, bx = x0 - x2, by = y0 - y2;
        float cx = x1 + x3, cy = y1 + y3, dx = -direction * (y1 - y3), dy = direction * (x1 - x3);
        to_x[4 * i] = ax + cx, to_y[4 * i] = ay + cy;
        to_x[4 * i + 1] = bx + dx, to_y[4 * i + 1] = by + dy;
        to_x[4 * i + 2] = ax - cx, to_y[4 * i + 2] = ay - cy;
        to_x[4 * i + 3] = bx - dx, to_y[4 * i + 3] = by - dy;
    }
}

void run(const float *restrict in, float *restrict out, float direction, int batch) {
    static float w[3][6][N / 4];
    float x[N], y[N], x2[N], y2[N];
    for (int t = 0, s = 4; t < 3; t++, s *= 4)
        for (int k = 0; k < s; k++)
            for (int r = 1; r < 4; r++) {
                double angle = direction * 6.283185307179586 * k * r / (4 * s);
                w[t][2 * r - 2][k] = cos(angle), w[t][2 * r - 1][k] = sin(angle);
            }
    for (int b = 0; b < batch; b++, in += 2 * N, out += 2 * N) {
        first(in, x, y, direction);
        step(x, y, x2, y2, w[0], 4, direction);
        step(x2, y2, x, y, w[1], 16, direction);
        step(x, y, x2, y2, w[2], 64, direction);
#pragma omp simd
        for (int i = 0; i < N; i++) {
            out[2 * i] = x2[i];
            out[2 * i + 1] = y2[i];
        }
    }
}
