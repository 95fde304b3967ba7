#include "native.h"

void run(const int8_t *restrict a, const int8_t *restrict b, int *restrict c, int m, int n, int k) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            int s = 0;
            const int8_t *p = a + i * k, *q = b + j * k;
            for (int t = 0; t < k; t++)
                s += p[t] * q[t];
            c[i * n + j] = s;
        }
}
