// Muon's update of a matrix of weights: momentum, five rounds of Newton-Schulz, the step.
#include "native.h"

// out += beta * l r, 4 rows and 32 columns at a time
static void multiply(const float *restrict l, const float *restrict r, float *restrict out, int m, int n, int k,
                     float beta) {
    int i = 0;
    for (; i + 4 <= m; i += 4) {
        int j = 0;
        for (; j + 32 <= n; j += 32) {
            float acc[4][32] = {0};
            for (int p = 0; p < k; p++)
                for (int a = 0; a < 4; a++)
#pragma omp simd
                    for (int b = 0; b < 32; b++)
                        acc[a][b] += l[(i + a) * k + p] * r[p * n + j + b];
            for (int a = 0; a < 4; a++)
                for (int b = 0; b < 32; b++)
                    out[(i + a) * n + j + b] += beta * acc[a][b];
        }
        for (int a = 0; a < 4 && j < n; a++)
            for (int p = 0; p < k; p++)
                for (int b = j; b < n; b++)
                    out[(i + a) * n + b] += beta * l[(i + a) * k + p] * r[p * n + b];
    }
    for (; i < m; i++)
        for (int p = 0; p < k; p++)
            for (int b = 0; b < n; b++)
                out[i * n + b] += beta * l[i * k + p] * r[p * n + b];
}

void run(const float *restrict grad, float *restrict buffer, float *restrict weights, int m, int n, int rounds,
         float beta, float ca, float cb, float cc, float lr, float decay) {
    int size = m * n;
    float *x = malloc(size * sizeof *x), *next = malloc(size * sizeof *x), *t = malloc(size * sizeof *x);
    float *a = malloc(m * m * sizeof *a), *b = malloc(m * m * sizeof *a), norm2 = 0;
#pragma omp simd reduction(+ : norm2)
    for (int i = 0; i < size; i++) {
        float g = grad[i], v = beta * buffer[i] + (1 - beta) * g, u = g + beta * (v - g);
        buffer[i] = v;
        x[i] = u;
        norm2 += u * u;
    }
    float scale = 1 / (sqrtf(norm2) + 1e-7f);
    for (int i = 0; i < size; i++)
        x[i] *= scale;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++)
                t[j * m + i] = x[i * n + j];
        memset(a, 0, m * m * sizeof *a);
        multiply(x, t, a, m, m, n, 1);
        for (int i = 0; i < m * m; i++)
            b[i] = cb * a[i];
        multiply(a, a, b, m, m, m, cc);
        for (int i = 0; i < size; i++)
            next[i] = ca * x[i];
        multiply(b, x, next, m, n, m, 1);
        float *swap = x;
        x = next;
        next = swap;
    }
    for (int i = 0; i < size; i++)
        weights[i] = weights[i] * (1 - lr * decay) - lr * x[i];
    free(x), free(next), free(t), free(a), free(b);
}
