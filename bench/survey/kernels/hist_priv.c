#include "native.h"

void run(const uchar *restrict d, uint *restrict out, int n) {
    uint h[4][256] = {0};
    for (int i = 0; i < n; i += 4) {
        h[0][d[i]]++;
        h[1][d[i + 1]]++;
        h[2][d[i + 2]]++;
        h[3][d[i + 3]]++;
    }
    for (int k = 0; k < 256; k++)
        out[k] += h[0][k] + h[1][k] + h[2][k] + h[3][k];
}
