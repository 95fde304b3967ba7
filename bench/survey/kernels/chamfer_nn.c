// Chamfer distance and gradients: coordinates apart, 16 points side by side against all of the other cloud.
#include "native.h"

enum { W = 32 };

static void nearest(const float *restrict a, int n, const float *restrict b, int m, float *restrict dist,
                    int *restrict index) {
    for (int first = 0; first < n; first += W) {
        int count = MIN(W, n - first), at[W];
        float x[W] = {0}, y[W] = {0}, z[W] = {0}, best[W];
        for (int i = 0; i < count; i++) {
            x[i] = a[3 * (first + i)];
            y[i] = a[3 * (first + i) + 1];
            z[i] = a[3 * (first + i) + 2];
        }
        for (int i = 0; i < W; i++) {
            best[i] = INFINITY;
            at[i] = 0;
        }
        for (int k = 0; k < m; k++) {
            float px = b[3 * k], py = b[3 * k + 1], pz = b[3 * k + 2];
#pragma omp simd
            for (int i = 0; i < W; i++) {
                float u = px - x[i], v = py - y[i], w = pz - z[i], d = u * u + v * v + w * w;
                at[i] = d < best[i] ? k : at[i];
                best[i] = d < best[i] ? d : best[i];
            }
        }
        for (int i = 0; i < count; i++) {
            dist[first + i] = best[i];
            index[first + i] = at[i];
        }
    }
}

static void gradient(const float *a, int n, const float *b, const float *grad, const int *index, float *ga, float *gb) {
    for (int i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) {
            float d = 2 * grad[i] * (a[3 * i + c] - b[3 * index[i] + c]);
            ga[3 * i + c] += d;
            gb[3 * index[i] + c] -= d;
        }
}

void run(const float *restrict xyz1, const float *restrict xyz2, const float *restrict grad1,
         const float *restrict grad2, float *restrict dist1, float *restrict dist2, int *restrict idx1,
         int *restrict idx2, float *restrict gxyz1, float *restrict gxyz2, int b, int n, int m) {
    for (int i = 0; i < b; i++) {
        const float *p = xyz1 + (size_t)i * n * 3, *q = xyz2 + (size_t)i * m * 3;
        nearest(p, n, q, m, dist1 + i * n, idx1 + i * n);
        nearest(q, m, p, n, dist2 + i * m, idx2 + i * m);
        gradient(p, n, q, grad1 + i * n, idx1 + i * n, gxyz1 + i * n * 3, gxyz2 + i * m * 3);
        gradient(q, m, p, grad2 + i * m, idx2 + i * m, gxyz2 + i * m * 3, gxyz1 + i * n * 3);
    }
}
