#include "native.h"

void run(const float *restrict a, const float *restrict x, float *restrict y, int m, int n) {
    memset(y, 0, 4 * m);
    for (int j = 0; j < n; j++) {
        float v = x[j];
        const float *p = a + (long)j * m;
        for (int i = 0; i < m; i++)
            y[i] += p[i] * v;
    }
}
