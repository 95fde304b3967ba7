#include "native.h"

void run(const float *restrict a, const float *restrict b, const float *restrict c, float *restrict d, float *restrict w, int n, int m) {
    for (int i = 0; i < m; i++) {
        w[i] = c[i] / b[i];
        d[i] = d[i] / b[i];
    }
    for (int k = 1; k < n; k++)
        for (int i = 0; i < m; i++) {
            int at = k * m + i;
            float s = 1.0f / (b[at] - a[at] * w[at - m]);
            w[at] = c[at] * s;
            d[at] = (d[at] - a[at] * d[at - m]) * s;
        }
    for (int k = n - 2; k >= 0; k--)
        for (int i = 0; i < m; i++)
            d[k * m + i] -= w[k * m + i] * d[(k + 1) * m + i];
}
