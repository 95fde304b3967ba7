#include "native.h"

static void pass(const uint *k, const int *v, uint *ko, int *vo, int shift) {
    int at[256] = {0}, sum = 0;
    for (int i = 0; i < 1024; i++)
        at[k[i] >> shift & 255]++;
    for (int d = 0; d < 256; d++) {
        int count = at[d];
        at[d] = sum;
        sum += count;
    }
    for (int i = 0; i < 1024; i++) {
        int p = at[k[i] >> shift & 255]++;
        ko[p] = k[i];
        vo[p] = v[i];
    }
}

void run(const uint *restrict keys, const int *restrict values, uint *restrict sorted, int *restrict order, int tiles) {
    uint k[1024];
    int v[1024];
    for (int t = 0; t < tiles; t++) {
        long s = t * 1024L;
        pass(keys + s, values + s, k, v, 0);
        pass(k, v, sorted + s, order + s, 8);
        pass(sorted + s, order + s, k, v, 16);
        pass(k, v, sorted + s, order + s, 24);
    }
}
