#include "native.h"

#define N 256

// The sequential algorithm, which C would use.
void run(const float *restrict a, const float *restrict b, const float *restrict c, const float *restrict d,
         float *restrict x, int systems) {
    for (int s = 0; s < systems; s++) {
        float cc[N], dd[N];
        const float *A = a + s * N, *B = b + s * N, *C = c + s * N, *D = d + s * N;
        cc[0] = C[0] / B[0];
        dd[0] = D[0] / B[0];
        for (int i = 1; i < N; i++) {
            float m = 1 / (B[i] - A[i] * cc[i - 1]);
            cc[i] = C[i] * m;
            dd[i] = (D[i] - A[i] * dd[i - 1]) * m;
        }
        x[s * N + N - 1] = dd[N - 1];
        for (int i = N - 2; i >= 0; i--)
            x[s * N + i] = dd[i] - cc[i] * x[s * N + i + 1];
    }
}
