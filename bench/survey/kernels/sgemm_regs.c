#include "native.h"

void run(const float *restrict a, const float *restrict b, float *restrict c, int n) {
    for (int i = 0; i < n; i++) {
        float *restrict row = c + (long)i * n;
        memset(row, 0, n * sizeof(float));
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                row[j] += a[(long)i * n + k] * b[(long)k * n + j];
    }
}
