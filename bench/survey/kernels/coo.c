#include "native.h"

void run(const int *restrict r, const int *restrict c, const float *restrict v, const float *restrict x,
         float *restrict y, int nz) {
    for (int i = 0; i < nz; i++)
        y[r[i]] += v[i] * x[c[i]];
}
