// MurmurHash3 in 128 bits: whole words at once, the tail copied to where it can be read so.
#include "native.h"

static inline ull rotl(ull x, int r) {
    return x << r | x >> (64 - r);
}

static inline ull mix(ull k) {
    k = (k ^ k >> 33) * 0xff51afd7ed558ccdull;
    k = (k ^ k >> 33) * 0xc4ceb9fe1a85ec53ull;
    return k ^ k >> 33;
}

void run(const uchar *restrict text, const uint *restrict start, ull *restrict hashes, uint keys, uint seed) {
    const ull c1 = 0x87c37b91114253d5ull, c2 = 0x4cf5ad432745937full;
    for (uint i = 0; i < keys; i++) {
        const uchar *p = text + start[i];
        uint length = start[i + 1] - start[i], left = length;
        ull h1 = seed, h2 = seed, k[2];
        for (; left >= 16; left -= 16, p += 16) {
            memcpy(k, p, 16);
            h1 ^= rotl(k[0] * c1, 31) * c2;
            h1 = (rotl(h1, 27) + h2) * 5 + 0x52dce729;
            h2 ^= rotl(k[1] * c2, 33) * c1;
            h2 = (rotl(h2, 31) + h1) * 5 + 0x38495ab5;
        }
        k[0] = k[1] = 0;
        if (length >= 16 && left) {  // the last 16 bytes, moved down
            memcpy(k, p + left - 16, 16);
            uint bits = 8 * (16 - left);
            k[0] = bits < 64 ? k[0] >> bits | (bits ? k[1] << (64 - bits) : 0) : k[1] >> (bits - 64);
            k[1] = bits < 64 ? k[1] >> bits : 0;
        } else
            memcpy(k, p, left);
        h2 ^= rotl(k[1] * c2, 33) * c1;
        h1 ^= rotl(k[0] * c1, 31) * c2;
        h1 ^= length, h2 ^= length;
        h1 += h2, h2 += h1;
        h1 = mix(h1), h2 = mix(h2);
        h1 += h2, h2 += h1;
        hashes[2L * i] = h1;
        hashes[2L * i + 1] = h2;
    }
}
