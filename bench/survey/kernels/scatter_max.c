#include "native.h"

void run(const int *restrict d, const int *restrict v, int *restrict h, int n) {
    for (int i = 0; i < n; i++) {
        int q = d[i];
        h[q] = h[q] > v[i] ? h[q] : v[i];
    }
}
