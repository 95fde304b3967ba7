#include "native.h"

void run(const float *restrict a, float *restrict b, float *restrict x, int n) {
    for (int i = 0; i < n; i++, a += n, b += n, x += n) {
        for (int j = 1; j < n; j++) {
            x[j] -= x[j - 1] * a[j] / b[j - 1];
            b[j] -= a[j] * a[j] / b[j - 1];
        }
        x[n - 1] /= b[n - 1];
        for (int j = n - 2; j > 0; j--)
            x[j] = (x[j] - x[j - 1] * a[j - 1]) / b[j - 1];
    }
}
