#include "native.h"

void run(const uint *restrict k, uint *restrict o, int n, int shift) {
    int c[16] = {0}, s = 0;
    for (int i = 0; i < n; i++)
        c[(k[i] >> shift) & 15]++;
    for (int i = 0; i < 16; i++) {
        int t = c[i];
        c[i] = s;
        s += t;
    }
    for (int i = 0; i < n; i++)
        o[c[(k[i] >> shift) & 15]++] = k[i];
}
