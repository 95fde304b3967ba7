#include "native.h"

void run(const int *restrict d, int *restrict h, int n) {
    for (int i = 0; i < n; i++)
        h[d[i]]++;
}
