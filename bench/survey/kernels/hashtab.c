#include "native.h"

static inline uint hsh(uint k) {
    k ^= k >> 16;
    k *= 0x85ebca6b;
    k ^= k >> 13;
    k *= 0xc2b2ae35;
    k ^= k >> 16;
    return k;
}

void run(uint *restrict t, const uint *restrict keys, const uint *restrict q, int *restrict found, uint mask,
         int n, int m) {
    for (int i = 0; i < n; i++) {
        uint k = keys[i], s = hsh(k) & mask;
        while (1) {
            uint p = t[s];
            if (p == ~0u) {
                t[s] = k;
                break;
            }
            if (p == k)
                break;
            s = (s + 1) & mask;
        }
    }
    for (int i = 0; i < m; i++) {
        uint k = q[i], s = hsh(k) & mask;
        int r = 0;
        while (1) {
            uint p = t[s];
            if (p == k) {
                r = 1;
                break;
            }
            if (p == ~0u)
                break;
            s = (s + 1) & mask;
        }
        found[i] = r;
    }
}
