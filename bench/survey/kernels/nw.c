#include "native.h"

void run(int *restrict m, const signed char *restrict a, const signed char *restrict b, int n) {
    int w = n + 1;
    for (int i = 0; i < n; i++) {
        int *p = m + i * w, *q = p + w;
        int left = q[0];
        for (int j = 0; j < n; j++) {
            int v = p[j] + (a[i] == b[j] ? 3 : -2);
            v = MAX(v, p[j + 1] - 1);
            v = MAX(v, left - 1);
            q[j + 1] = left = v;
        }
    }
}
