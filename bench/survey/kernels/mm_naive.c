#include "native.h"

void run(const float *restrict a, const float *restrict b, float *restrict c, int n) {
    memset(c, 0, 4l * n * n);
    for (int kk = 0; kk < n; kk += 64)
        for (int i = 0; i < n; i++)
            for (int k = kk; k < MIN(kk + 64, n); k++) {
                float v = a[i * n + k];
                const float *p = b + k * n;
                float *o = c + i * n;
                for (int j = 0; j < n; j++)
                    o[j] += v * p[j];
            }
}
