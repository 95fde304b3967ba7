#include "native.h"

void run(float *restrict m, float *restrict a, int n) {
    for (int t = 0; t < n - 1; t++) {
        for (int i = t + 1; i < n; i++) {
            float f = m[n * i + t] = a[n * i + t] / a[n * t + t];
            for (int j = t; j < n; j++)
                a[n * i + j] -= f * a[n * t + j];
        }
    }
}
