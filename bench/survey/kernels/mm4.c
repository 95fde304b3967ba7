#include "native.h"

void run(const float *restrict a, const float *restrict b, float *restrict c, int n) {
    memset(c, 0, sizeof(float) * n * n);
    for (int y = 0; y < n; y++)
        for (int k = 0; k < n; k++)
            for (int x = 0; x < n; x++)
                c[y * n + x] += a[y * n + k] * b[k * n + x];
}
