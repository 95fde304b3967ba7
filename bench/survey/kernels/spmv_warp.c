#include "native.h"

void run(const int *restrict off, const int *restrict col, const float *restrict val, const float *restrict x, float *restrict y, int n) {
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int k = off[i]; k < off[i + 1]; k++)
            s += val[k] * x[col[k]];
        y[i] = s;
    }
}
