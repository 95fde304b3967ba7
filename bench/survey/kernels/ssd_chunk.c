// Mamba-2 by chunks of 64 tokens: attention within a chunk, a state for what was before.
#include "native.h"

enum { Q = 64, P = 32, N = 32 };

void run(const float *restrict x, const float *restrict b, const float *restrict c, const float *restrict dt_raw,
         const float *restrict dt_bias, const float *restrict a_log, const float *restrict d_skip, float *restrict y,
         int length, int heads, int chunks) {
    float(*cb)[Q] = malloc(chunks * Q * sizeof *cb);  // C B^T, which all heads share
    for (int token = 0; token < length; token++) {
        int first = token / Q * Q;
        for (int s = first; s <= token; s++) {
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int n = 0; n < N; n++)
                sum += c[token * N + n] * b[s * N + n];
            cb[token][s - first] = sum;
        }
    }
    for (int h = 0; h < heads; h++) {
        float state[N][P] = {0}, a = -expf(a_log[h]);
        for (int chunk = 0; chunk < chunks; chunk++) {
            float dt[Q], da[Q], weight[Q], sum = 0;
            int count = MIN(Q, length - chunk * Q);
            for (int t = 0; t < count; t++) {
                float v = dt_raw[(chunk * Q + t) * heads + h] + dt_bias[h];
                dt[t] = v > 20 ? v : log1pf(expf(v));
                da[t] = sum += a * dt[t];
            }
            for (int t = 0; t < count; t++) {
                int token = chunk * Q + t;
                float acc[P] = {0}, before[P] = {0}, decay = expf(da[t]);
#pragma omp simd
                for (int s = 0; s <= t; s++)
                    weight[s] = cb[token][s] * expf(da[t] - da[s]) * dt[s];
                for (int s = 0; s <= t; s++) {
                    const float *row = x + ((size_t)(chunk * Q + s) * heads + h) * P;
#pragma omp simd
                    for (int p = 0; p < P; p++)
                        acc[p] += weight[s] * row[p];
                }
                for (int n = 0; n < N; n++)
#pragma omp simd
                    for (int p = 0; p < P; p++)
                        before[p] += c[token * N + n] * state[n][p];
                const float *row = x + ((size_t)token * heads + h) * P;
                float *to = y + ((size_t)token * heads + h) * P;
                for (int p = 0; p < P; p++)
                    to[p] = acc[p] + before[p] * decay + d_skip[h] * row[p];
            }
            float decay = expf(sum);
            for (int n = 0; n < N; n++)
                for (int p = 0; p < P; p++)
                    state[n][p] *= decay;
            for (int t = 0; t < count; t++) {
                int token = chunk * Q + t;
                const float *row = x + ((size_t)token * heads + h) * P;
                float w = expf(sum - da[t]) * dt[t];
                for (int n = 0; n < N; n++) {
                    float v = b[token * N + n] * w;
#pragma omp simd
                    for (int p = 0; p < P; p++)
                        state[n][p] += v * row[p];
                }
            }
        }
    }
    free(cb);
}
