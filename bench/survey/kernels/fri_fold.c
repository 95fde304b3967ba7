#include "native.h"

#define P 2013265921u
#define INVERSE 2281701377u

static inline uint add(uint a, uint b) {
    uint s = a + b, t = s - P;
    return MIN(s, t);
}

static inline uint sub(uint a, uint b) {
    uint s = a - b, t = s + P;
    return MIN(s, t);
}

static inline uint mul(uint a, uint b) {
    ull product = (ull)a * b;
    uint q = (uint)product * INVERSE;
    uint high = (ull)q * P >> 32, s = (uint)(product >> 32) - high, t = s + P;
    return MIN(s, t);
}

void run(uint *restrict layers, uint *restrict points, const uint *restrict powers, const uint *restrict challenges,
         const uint *restrict queries, uint *restrict opened, uint half, uint eleven, int bits, int rounds, int count) {
    // in bit-reversed order the table doubles, each time by the power of one more bit
    points[0] = half;
    for (int k = 0; k < bits - 1; k++) {
        uint power = powers[bits - 2 - k];
        for (int i = 0; i < 1 << k; i++)
            points[(1 << k) + i] = mul(points[i], power);
    }
    uint *layer = layers;
    for (int r = 0; r < rounds; r++) {
        int n = 1 << (bits - 1 - r);
        uint *restrict folded = layer + 8 * (size_t)n;
        uint b[4], e[4];
        for (int k = 0; k < 4; k++) {
            b[k] = challenges[4 * r + k];
            e[k] = mul(b[k], eleven);
        }
#pragma omp simd
        for (int i = 0; i < n; i++) {
            const uint *f = layer + 8 * i;
            uint *to = folded + 4 * i, x = points[i];
            uint c0 = mul(sub(f[0], f[4]), x), c1 = mul(sub(f[1], f[5]), x), c2 = mul(sub(f[2], f[6]), x),
                 c3 = mul(sub(f[3], f[7]), x);
            uint r0 = add(add(mul(c0, b[0]), mul(c1, e[3])), add(mul(c2, e[2]), mul(c3, e[1])));
            uint r1 = add(add(mul(c0, b[1]), mul(c1, b[0])), add(mul(c2, e[3]), mul(c3, e[2])));
            uint r2 = add(add(mul(c0, b[2]), mul(c1, b[1])), add(mul(c2, b[0]), mul(c3, e[3])));
            uint r3 = add(add(mul(c0, b[3]), mul(c1, b[2])), add(mul(c2, b[1]), mul(c3, b[0])));
            to[0] = add(r0, mul(add(f[0], f[4]), half));
            to[1] = add(r1, mul(add(f[1], f[5]), half));
            to[2] = add(r2, mul(add(f[2], f[6]), half));
            to[3] = add(r3, mul(add(f[3], f[7]), half));
        }
        layer = folded;
    }
    for (int q = 0; q < count; q++) {
        size_t offset = 0;
        for (int r = 0; r < rounds; r++) {
            uint at = queries[q] >> r;
            memcpy(opened + (q * rounds + r) * 8, layers + 4 * (offset + at), 16);
            memcpy(opened + (q * rounds + r) * 8 + 4, layers + 4 * (offset + (at ^ 1)), 16);
            offset += (size_t)1 << (bits - r);
        }
    }
}
