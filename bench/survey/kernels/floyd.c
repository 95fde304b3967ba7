#include "native.h"

void run(int *restrict d, int n) {
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++) {
            int a = d[i * n + k];
            const int *q = d + k * n;
            int *p = d + i * n;
#pragma omp simd
            for (int j = 0; j < n; j++) {
                int t = a + q[j];
                p[j] = t < p[j] ? t : p[j];
            }
        }
}
