#include "native.h"

void run(uint *restrict st, float *restrict sums, int n, int per) {
#pragma omp simd
    for (int i = 0; i < n; i++) {
        uint x = st[i], y = st[n + i], z = st[2 * n + i], w = st[3 * n + i], v = st[4 * n + i],
             d = st[5 * n + i];
        float s = 0;
        for (int k = 0; k < per; k++) {
            uint t = x ^ (x >> 2);
            x = y;
            y = z;
            z = w;
            w = v;
            v = (v ^ (v << 4)) ^ (t ^ (t << 1));
            d += 362437;
            s += (v + d) * 2.3283064e-10f;
        }
        st[i] = x;
        st[n + i] = y;
        st[2 * n + i] = z;
        st[3 * n + i] = w;
        st[4 * n + i] = v;
        st[5 * n + i] = d;
        sums[i] = s;
    }
}
