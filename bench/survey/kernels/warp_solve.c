// Many systems of 24 equations by elimination with partial pivots
#include "native.h"
enum { N = 24 };

void run(const float *restrict matrices, const float *restrict rhs, float *restrict factors, float *restrict solutions,
         int *restrict pivots, float *restrict log_det, int count) {
    for (int m = 0; m < count; m++) {
        float a[N][N], b[N], log_sum = 0;
        int order[N];
        memcpy(a, matrices + (size_t)m * N * N, sizeof a);
        memcpy(b, rhs + m * N, sizeof b);
        for (int i = 0; i < N; i++)
            order[i] = i;
        for (int k = 0; k < N; k++) {
            int best = k;
            for (int i = k + 1; i < N; i++)
                if (fabsf(a[order[i]][k]) > fabsf(a[order[best]][k]))
                    best = i;
            int row = order[best];
            order[best] = order[k];
            order[k] = row;
            const float *restrict pivot = a[row];
            log_sum += logf(fabsf(pivot[k]));
            for (int i = k + 1; i < N; i++) {
                float *restrict to = a[order[i]], by = to[k] / pivot[k];
                for (int j = k + 1; j < N; j++)
                    to[j] -= by * pivot[j];
                b[order[i]] -= by * b[row];
                to[k] = by;
            }
        }
        float x[N];
        for (int k = N - 1; k >= 0; k--) {
            const float *row = a[order[k]];
            float sum = b[order[k]];
            for (int j = k + 1; j < N; j++)
                sum -= row[j] * x[j];
            x[k] = sum / row[k];
        }
        memcpy(solutions + m * N, x, sizeof x);
        memcpy(pivots + m * N, order, sizeof order);
        for (int k = 0; k < N; k++)
            memcpy(factors + ((size_t)m * N + k) * N, a[order[k]], sizeof a[0]);
        log_det[m] = log_sum;
    }
}
