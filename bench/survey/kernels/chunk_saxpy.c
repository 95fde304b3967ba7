#include "native.h"

void run(const float *restrict x, float *restrict y, float a, int n, int length) {
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}
