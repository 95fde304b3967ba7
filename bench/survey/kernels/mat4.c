#include "native.h"

void run(const float *restrict a, const float *restrict b, float *restrict c, int n) {
    for (int m = 0; m < n; m++) {
        const float *x = a + 16 * (long)m, *y = b + 16 * (long)m;
        float *z = c + 16 * (long)m;
        for (int i = 0; i < 4; i++) {
            float t[4] = {0};
            for (int k = 0; k < 4; k++)
                for (int j = 0; j < 4; j++)
                    t[j] += x[4 * i + k] * y[4 * k + j];
            for (int j = 0; j < 4; j++)
                z[4 * i + j] = t[j];
        }
    }
}
