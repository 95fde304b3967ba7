#include "native.h"

void run(const int *restrict in, int *restrict out, int w, int h) {
    for (int y = 0; y < h; y++) {
        const int *u = in + (y + h - 1) % h * w, *c = in + y * w, *d = in + (y + 1) % h * w;
        int *o = out + y * w;
#pragma omp simd
        for (int x = 1; x < w - 1; x++) {
            int n = u[x - 1] + u[x] + u[x + 1] + c[x - 1] + c[x + 1] + d[x - 1] + d[x] + d[x + 1];
            o[x] = (n == 3) | ((n == 2) & (c[x] != 0));
        }
        for (int x = 0; x < w; x += w - 1) {
            int l = (x + w - 1) % w, r = (x + 1) % w;
            int n = u[l] + u[x] + u[r] + c[l] + c[r] + d[l] + d[x] + d[r];
            o[x] = (n == 3) | ((n == 2) & (c[x] != 0));
        }
    }
}
