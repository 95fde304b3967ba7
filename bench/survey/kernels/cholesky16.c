#include "native.h"

enum { N = 16 };

void run(const float *restrict in, float *restrict out, int count) {
    for (int w = 0; w < count; w++) {
        float m[N][N];
        memcpy(m, in + w * N * N, sizeof m);
        for (int k = 0; k < N; k++) {
            float d = sqrtf(m[k][k]), c[N];
            for (int i = 0; i < N; i++)
                c[i] = i == k ? d : m[i][k] / d;
            for (int i = k; i < N; i++)
                m[i][k] = c[i];
            for (int i = k + 1; i < N; i++)
                for (int j = 0; j < N; j++)
                    m[i][j] -= j > k ? c[i] * c[j] : 0;
        }
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                out[w * N * N + i * N + j] = j <= i ? m[i][j] : 0;
    }
}
