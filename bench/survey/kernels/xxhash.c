#include "native.h"

#define ROT(x, n) (((x) << n) | ((x) >> (32 - n)))

void run(const uint *restrict d, uint *restrict o, int n, uint seed) {
    const uint P1 = 2654435761u, P2 = 2246822519u, P3 = 3266489917u;
    for (int i = 0; i < n; i++) {
        const uint *p = d + 16 * (long)i;
        uint a = seed + P1 + P2, b = seed + P2, c = seed, e = seed - P1;
        for (int k = 0; k < 4; k++) {
            a = ROT(a + p[4 * k] * P2, 13) * P1;
            b = ROT(b + p[4 * k + 1] * P2, 13) * P1;
            c = ROT(c + p[4 * k + 2] * P2, 13) * P1;
            e = ROT(e + p[4 * k + 3] * P2, 13) * P1;
        }
        uint h = ROT(a, 1) + ROT(b, 7) + ROT(c, 12) + ROT(e, 18) + 64;
        h ^= h >> 15;
        h *= P2;
        h ^= h >> 13;
        h *= P3;
        h ^= h >> 16;
        o[i] = h;
    }
}
