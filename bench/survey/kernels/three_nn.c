// Three nearest known points, weights, features between them, and the gradient.
#include "native.h"

void run(const float *restrict unknown, const float *restrict known, const float *restrict points,
         const float *restrict grad_out, float *restrict dist2, int *restrict idx, float *restrict weight,
         float *restrict out, float *restrict grad_points, int b, int c, int n, int m) {
    float *x = malloc(4 * m * sizeof(float)), *y = x + m, *z = y + m, *d = z + m;
    for (int s = 0; s < b; s++) {
        const float *k = known + 3L * s * m;
        for (int j = 0; j < m; j++) {
            x[j] = k[3 * j];
            y[j] = k[3 * j + 1];
            z[j] = k[3 * j + 2];
        }
        for (int i = 0; i < n; i++) {
            const float *u = unknown + 3L * (s * n + i);
            float ux = u[0], uy = u[1], uz = u[2], b1 = INFINITY, b2 = INFINITY, b3 = INFINITY;
            int i1 = 0, i2 = 0, i3 = 0;
#pragma omp simd
            for (int j = 0; j < m; j++)
                d[j] = (ux - x[j]) * (ux - x[j]) + (uy - y[j]) * (uy - y[j]) + (uz - z[j]) * (uz - z[j]);
            for (int j = 0; j < m; j++)
                if (d[j] < b3) {
                    if (d[j] < b2) {
                        b3 = b2;
                        i3 = i2;
                        if (d[j] < b1) {
                            b2 = b1;
                            i2 = i1;
                            b1 = d[j];
                            i1 = j;
                        } else {
                            b2 = d[j];
                            i2 = j;
                        }
                    } else {
                        b3 = d[j];
                        i3 = j;
                    }
                }
            long at = 3L * (s * n + i);
            float r1 = 1 / (sqrtf(b1) + 1e-8f), r2 = 1 / (sqrtf(b2) + 1e-8f), r3 = 1 / (sqrtf(b3) + 1e-8f);
            float norm = r1 + r2 + r3;
            dist2[at] = b1, dist2[at + 1] = b2, dist2[at + 2] = b3;
            idx[at] = i1, idx[at + 1] = i2, idx[at + 2] = i3;
            weight[at] = r1 / norm, weight[at + 1] = r2 / norm, weight[at + 2] = r3 / norm;
        }
        for (int f = 0; f < c; f++) {
            const float *p = points + ((long)s * c + f) * m, *go = grad_out + ((long)s * c + f) * n;
            float *o = out + ((long)s * c + f) * n, *gp = grad_points + ((long)s * c + f) * m;
            for (int i = 0; i < n; i++) {
                const float *w = weight + 3L * (s * n + i);
                const int *q = idx + 3L * (s * n + i);
                o[i] = w[0] * p[q[0]] + w[1] * p[q[1]] + w[2] * p[q[2]];
                gp[q[0]] += go[i] * w[0];
                gp[q[1]] += go[i] * w[1];
                gp[q[2]] += go[i] * w[2];
            }
        }
    }
    free(x);
}
