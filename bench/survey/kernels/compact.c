#include "native.h"

void run(const int *restrict in, int *restrict out, int *restrict cnt, int n, int limit) {
    int k = 0;
    for (int i = 0; i < n; i++) {
        int v = in[i];
        out[k] = v;
        k += v > limit;
    }
    out[k] = 0; // what the last turn left there
    *cnt = k;
}
