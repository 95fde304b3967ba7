#include "native.h"

// Points and normals of rational Bezier patches of degrees 4 and 3; 16 samples side by side.
enum { N = 4, M = 3, W = 16, STRIDE = (N + 1) * (M + 1) * 4 };
typedef float Lane[W];
typedef struct {
    int patch;
    float u, v;
} Sample;

static inline void strip(Lane *restrict p, int n, const float *restrict t, float *restrict point,
                         float *restrict tangent) {
#pragma GCC unroll 4
    for (int level = n; level > 1; level--)
#pragma GCC unroll 4
        for (int i = 0; i < level; i++)
#pragma omp simd
            for (int w = 0; w < W; w++)
                p[i][w] += t[w] * (p[i + 1][w] - p[i][w]);
#pragma omp simd
    for (int w = 0; w < W; w++) {
        float d = p[1][w] - p[0][w];
        tangent[w] = n * d;
        point[w] = p[0][w] + t[w] * d;
    }
}

void run(const float *restrict control, const Sample *restrict samples, float *restrict positions,
         float *restrict normals, int n) {
    for (int first = 0; first < n; first += W) {
        int lanes = MIN(W, n - first), at[W];
        Lane u, v, point[4], tu[4], tv[4], unused;
        for (int w = 0; w < W; w++) {
            Sample s = samples[first + MIN(w, lanes - 1)];
            at[w] = s.patch * STRIDE;
            u[w] = s.u;
            v[w] = s.v;
        }
        for (int c = 0; c < 4; c++) {
            Lane across[M + 1], across_u[M + 1], along[N + 1];
            for (int row = 0; row <= M; row++) {
                for (int i = 0; i <= N; i++)
#pragma omp simd
                    for (int w = 0; w < W; w++)
                        along[i][w] = control[at[w] + (row * (N + 1) + i) * 4 + c];
                strip(along, N, u, across[row], across_u[row]);
            }
            strip(across, M, v, point[c], tv[c]);
            strip(across_u, M, v, tu[c], unused);
        }
        Lane out[6];
#pragma omp simd
        for (int w = 0; w < W; w++) {
            float inv = 1 / point[3][w], su = tu[3][w] * inv, sv = tv[3][w] * inv;
            float ax = (tu[0][w] - point[0][w] * su) * inv, ay = (tu[1][w] - point[1][w] * su) * inv;
            float az = (tu[2][w] - point[2][w] * su) * inv, bx = (tv[0][w] - point[0][w] * sv) * inv;
            float by = (tv[1][w] - point[1][w] * sv) * inv, bz = (tv[2][w] - point[2][w] * sv) * inv;
            float x = ay * bz - az * by, y = az * bx - ax * bz, z = ax * by - ay * bx;
            float length = sqrtf(x * x + y * y + z * z), one = 1 / length, scale = length > 1e-12f ? one : 0;
            out[0][w] = point[0][w] * inv;
            out[1][w] = point[1][w] * inv;
            out[2][w] = point[2][w] * inv;
            out[3][w] = x * scale;
            out[4][w] = y * scale;
            out[5][w] = z * scale;
        }
        for (int w = 0; w < lanes; w++)
            for (int c = 0; c < 3; c++) {
                positions[3 * (first + w) + c] = out[c][w];
                normals[3 * (first + w) + c] = out[3 + c][w];
            }
    }
}
