// Poly1305 of many packets with limbs of 44, 44 and 42 bits.
#include "native.h"

typedef unsigned __int128 u128;
#define M44 0xfffffffffffull
#define M42 0x3ffffffffffull

void run(const uint8_t *restrict data, const uint *restrict offsets, const uint *restrict keys, uint *restrict tags,
         int packets) {
    for (int p = 0; p < packets; p++) {
        ull t0, t1;
        memcpy(&t0, keys + 8 * p, 8);
        memcpy(&t1, keys + 8 * p + 2, 8);
        t0 &= 0x0ffffffc0fffffffull;
        t1 &= 0x0ffffffc0ffffffcull;
        ull r0 = t0 & M44, r1 = (t0 >> 44 | t1 << 20) & M44, r2 = t1 >> 24, s1 = r1 * 20, s2 = r2 * 20;
        ull h0 = 0, h1 = 0, h2 = 0;
        const uint8_t *at = data + offsets[p];
        for (int left = offsets[p + 1] - offsets[p]; left > 0; left -= 16, at += 16) {
            ull high = 1ull << 40;
            if (left >= 16) {
                memcpy(&t0, at, 8);
                memcpy(&t1, at + 8, 8);
            } else {
                uint8_t last[16] = {0};
                memcpy(last, at, left);
                last[left] = 1;
                memcpy(&t0, last, 8);
                memcpy(&t1, last + 8, 8);
                high = 0;
            }
            h0 += t0 & M44;
            h1 += (t0 >> 44 | t1 << 20) & M44;
            h2 += t1 >> 24 | high;
            u128 d0 = (u128)h0 * r0 + (u128)h1 * s2 + (u128)h2 * s1;
            u128 d1 = (u128)h0 * r1 + (u128)h1 * r0 + (u128)h2 * s2;
            u128 d2 = (u128)h0 * r2 + (u128)h1 * r1 + (u128)h2 * r0;
            h0 = (ull)d0 & M44;
            d1 += (ull)(d0 >> 44);
            h1 = (ull)d1 & M44;
            d2 += (ull)(d1 >> 44);
            h2 = (ull)d2 & M42;
            h0 += (ull)(d2 >> 42) * 5;
            h1 += h0 >> 44;
            h0 &= M44;
        }
        for (int i = 0; i < 2; i++) {
            h2 += h1 >> 44, h1 &= M44;
            h0 += (h2 >> 42) * 5, h2 &= M42;
            h1 += h0 >> 44, h0 &= M44;
        }
        ull g0 = h0 + 5, g1 = h1 + (g0 >> 44), g2 = h2 + (g1 >> 44);
        if (g2 >> 42)
            h0 = g0 & M44, h1 = g1 & M44, h2 = g2 & M42;
        u128 h = h0 | (u128)h1 << 44 | (u128)h2 << 88, pad;
        memcpy(&pad, keys + 8 * p + 4, 16);
        h += pad;
        memcpy(tags + 4 * p, &h, 16);
    }
}
