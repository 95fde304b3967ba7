#include "native.h"

void run(float *restrict o, int n, uint K0, uint K1) {
#pragma omp simd
    for (int i = 0; i < n; i++) {
        uint a = i, b = 0, c = 0x1234, d = 0x5678, k0 = K0, k1 = K1;
        for (int r = 0; r < 10; r++) {
            ull p = (ull)0xD2511F53u * a, q = (ull)0xCD9E8D57u * c;
            uint h0 = p >> 32, l0 = p, h1 = q >> 32, l1 = q;
            a = h1 ^ b ^ k0;
            b = l1;
            c = h0 ^ d ^ k1;
            d = l0;
            k0 += 0x9E3779B9u;
            k1 += 0xBB67AE85u;
        }
        const float s = 2.3283064e-10f;
        float *p = o + 4 * (long)i;
        p[0] = a * s;
        p[1] = b * s;
        p[2] = c * s;
        p[3] = d * s;
    }
}
