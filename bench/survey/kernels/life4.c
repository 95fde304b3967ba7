#include "native.h"

void run(const uchar *restrict a, uchar *restrict b, int w, int h) {
    for (int y = 0; y < h; y++) {
        const uchar *u = a + ((y + h - 1) % h) * w, *c = a + y * w, *d = a + ((y + 1) % h) * w;
        uchar *o = b + y * w;
#pragma omp simd
        for (int x = 1; x < w - 1; x++) {
            uchar s = u[x - 1] + u[x] + u[x + 1] + c[x - 1] + c[x + 1] + d[x - 1] + d[x] + d[x + 1];
            o[x] = (s == 3) | ((s == 2) & c[x]);
        }
        for (int k = 0; k < 2; k++) {
            int x = k ? w - 1 : 0, l = (x + w - 1) % w, r = (x + 1) % w;
            int s = u[l] + u[x] + u[r] + c[l] + c[r] + d[l] + d[x] + d[r];
            o[x] = (s == 3) | ((s == 2) & c[x]);
        }
    }
}
