// The loss of a transducer and its gradient, a sequence at a time.
#include "native.h"

static inline float log_sum(float a, float b) { return MAX(a, b) + log1pf(expf(-fabsf(a - b))); }

void run(const float *restrict acts, const int *restrict labels, const int *restrict T_len, const int *restrict U_len,
         float *restrict denom, float *restrict alphas, float *restrict betas, float *restrict costs,
         float *restrict grads, int maxT, int maxU, int V, int batch) {
    float *restrict blank = malloc(sizeof(float) * maxT * maxU), *restrict emit = malloc(sizeof(float) * maxT * maxU);
    for (int b = 0; b < batch; b++) {
        int T = T_len[b], U = U_len[b] + 1;
        const int *label = labels + b * (maxU - 1);
        float *restrict alpha = alphas + (long)b * maxT * maxU, *restrict beta = betas + (long)b * maxT * maxU;
        for (int i = 0; i < maxT * maxU; i++) {
            int u = i % maxU;
            long row = (long)b * maxT * maxU + i;
            const float *x = acts + row * V;
            float top = x[0], sum = 0;
#pragma omp simd reduction(max : top)
            for (int v = 0; v < V; v++)
                top = MAX(top, x[v]);
#pragma omp simd reduction(+ : sum)
            for (int v = 0; v < V; v++)
                sum += expf(x[v] - top);
            denom[row] = -top - logf(sum);
            blank[i] = x[0] + denom[row];
            emit[i] = u < maxU - 1 ? x[label[u]] + denom[row] : 0;
        }
        for (int t = 0; t < T; t++)
            for (int u = 0; u < U; u++) {
                int i = t * maxU + u;
                float up = t ? alpha[i - maxU] + blank[i - maxU] : 0, left = u ? alpha[i - 1] + emit[i - 1] : 0;
                alpha[i] = t && u ? log_sum(up, left) : t ? up : left;
            }
        int last = (T - 1) * maxU + U - 1;
        float ll = alpha[last] + blank[last];
        costs[b] = -ll;
        for (int t = T - 1; t >= 0; t--)
            for (int u = U - 1; u >= 0; u--) {
                int i = t * maxU + u;
                float down = t < T - 1 ? beta[i + maxU] + blank[i] : blank[i];
                float right = u < U - 1 ? beta[i + 1] + emit[i] : 0;
                beta[i] = t < T - 1 && u < U - 1 ? log_sum(down, right) : u < U - 1 ? right : down;
            }
        for (int t = 0; t < maxT; t++)
            for (int u = 0; u < maxU; u++) {
                int i = t * maxU + u;
                long row = (long)b * maxT * maxU + i;
                const float *restrict x = acts + row * V;
                float *restrict g = grads + row * V;
                if (t >= T || u >= U) {
                    memset(g, 0, V * sizeof(float));
                    continue;
                }
                float shift = alpha[i] + beta[i] - ll + denom[row];
#pragma omp simd
                for (int v = 0; v < V; v++)
                    g[v] = expf(x[v] + shift);
                if (t < T - 1)
                    g[0] -= expf(alpha[i] + blank[i] - ll + beta[i + maxU]);
                else if (u == U - 1)
                    g[0] -= expf(alpha[i] + blank[i] - ll);
                if (u < U - 1)
                    g[label[u]] -= expf(alpha[i] + emit[i] - ll + beta[i + 1]);
            }
    }
    free(blank);
    free(emit);
}
