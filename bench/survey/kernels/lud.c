#include "native.h"

void run(float *restrict m, int n) {
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            float f = m[i * n + k] / m[k * n + k];
            m[i * n + k] = f;
            for (int j = k + 1; j < n; j++)
                m[i * n + j] -= f * m[k * n + j];
        }
}
