#include "native.h"

void run(const float *restrict a, float *restrict c, int n, int m, float alpha, float beta) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float s = c[i * n + j] * beta;
            for (int k = 0; k < m; k++)
                s += alpha * a[i * m + k] * a[j * m + k];
            c[i * n + j] = s;
        }
}
