// Steps of t-SNE: coordinates apart, so that a point's repulsion from all others is vectors.
#include "native.h"

static inline void momentum_step(float gradient, float *velocity, float *gain, float eta, float momentum) {
    int same = (gradient > 0) == (*velocity > 0);
    float g = same ? *gain * 0.8f : *gain + 0.2f;
    *gain = MAX(g, 0.01f);
    *velocity = momentum * *velocity - eta * *gain * gradient;
}

void run(float *restrict points, float *restrict velocity, float *restrict gains, const int *restrict row_start,
         const int *restrict columns, const float *restrict p, double *z0, double *z1, double *z2, double *z3, int n,
         int steps, float exaggeration, float eta, float momentum) {
    float *restrict x = malloc(n * sizeof(float)), *restrict y = malloc(n * sizeof(float));
    float *restrict force = malloc(2 * n * sizeof(float));
    for (int k = 0; k < steps; k++) {
        for (int i = 0; i < n; i++) {
            x[i] = points[2 * i];
            y[i] = points[2 * i + 1];
        }
        double all = 0;
        for (int i = 0; i < n; i++) {
            float total = 0, fx = 0, fy = 0;
#pragma omp simd reduction(+ : total, fx, fy)
            for (int j = 0; j < n; j++) {
                float dx = x[i] - x[j], dy = y[i] - y[j], q = 1 / (1 + dx * dx + dy * dy);
                total += q;
                fx += q * q * dx;
                fy += q * q * dy;
            }
            all += total - 1;
            force[2 * i] = fx;
            force[2 * i + 1] = fy;
        }
        *(double *[]){z0, z1, z2, z3}[k] = all;
        float norm = 1 / all, mx = 0, my = 0;
        for (int i = 0; i < n; i++) {
            float ax = 0, ay = 0;
#pragma omp simd reduction(+ : ax, ay)
            for (int e = row_start[i]; e < row_start[i + 1]; e++) {
                float dx = x[i] - x[columns[e]], dy = y[i] - y[columns[e]], pq = p[e] / (1 + dx * dx + dy * dy);
                ax += pq * dx;
                ay += pq * dy;
            }
            momentum_step(4 * (exaggeration * ax - norm * force[2 * i]), velocity + 2 * i, gains + 2 * i, eta, momentum);
            momentum_step(4 * (exaggeration * ay - norm * force[2 * i + 1]), velocity + 2 * i + 1, gains + 2 * i + 1, eta,
                          momentum);
            mx += points[2 * i] = x[i] + velocity[2 * i];
            my += points[2 * i + 1] = y[i] + velocity[2 * i + 1];
        }
        for (int i = 0; i < n; i++) {
            points[2 * i] -= mx / n;
            points[2 * i + 1] -= my / n;
        }
    }
    free(x);
    free(y);
    free(force);
}
