#include "native.h"

void run(const int *restrict d, const double *restrict v, double *restrict h, int n) {
    for (int i = 0; i < n; i++)
        h[d[i]] += v[i];
}
