#include "native.h"

void run(float *restrict d, float *restrict mean, float *restrict c, int m, int n) {
    for (int j = 0; j < m; j++) {
        float s = 0;
        for (int i = 0; i < n; i++)
            s += d[i * m + j];
        mean[j] = s / n;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            d[i * m + j] -= mean[j];
    for (int j1 = 0; j1 < m; j1++)
        for (int j2 = j1; j2 < m; j2++) {
            float s = 0;
            for (int i = 0; i < n; i++)
                s += d[i * m + j1] * d[i * m + j2];
            c[j1 * m + j2] = c[j2 * m + j1] = s;
        }
}
