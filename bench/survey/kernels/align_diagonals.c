#include "native.h"

#define N 256

void run(const char *restrict a, const char *restrict b, int *restrict best, int pairs) {
    for (int p = 0; p < pairs; p++) {
        short h[3][N + 1];
        const char *x = a + p * N, *y = b + p * N;
        memset(h, 0, sizeof h);
        short top = 0;
        for (int d = 0; d < 2 * N - 1; d++) {
            short *now = h[d % 3], *last = h[(d + 2) % 3], *before = h[(d + 1) % 3];
            int from = MAX(0, d - N + 1), to = MIN(N - 1, d);
            for (int t = 0; t < from; t++)
                now[t + 1] = 0;
            for (int t = from; t <= to; t++) {
                short v = before[t] + (x[t] == y[d - t] ? 2 : -1);
                short l = MAX(last[t], last[t + 1]) - 1;
                v = MAX(v, l);
                v = MAX(v, 0);
                now[t + 1] = v;
                top = MAX(top, v);
            }
            for (int t = to + 1; t < N; t++)
                now[t + 1] = 0;
        }
        best[p] = top;
    }
}
