#include "native.h"

#define PRIME1 0x9E3779B185EBCA87ull
#define PRIME2 0xC2B2AE3D27D4EB4Full
#define PRIME3 0x165667B19E3779F9ull
#define PRIME4 0x85EBCA77C2B2AE63ull
#define PRIME5 0x27D4EB2F165667C5ull
#define HASHES 7

static inline ull rotl(ull x, int r) { return (x << r) | (x >> (64 - r)); }

static inline ull xxhash64(ull key, ull seed) {
    ull h = (seed + PRIME5 + 8) ^ (rotl(key * PRIME2, 31) * PRIME1);
    h = rotl(h, 27) * PRIME1 + PRIME4;
    h = (h ^ h >> 33) * PRIME2;
    h = (h ^ h >> 29) * PRIME3;
    return h ^ h >> 32;
}

static inline ull fmix64(ull k) {
    k = (k ^ k >> 33) * 0xff51afd7ed558ccdull;
    k = (k ^ k >> 33) * 0xc4ceb9fe1a85ec53ull;
    return k ^ k >> 33;
}

static inline ull place(ull h, ull bits) { return (unsigned __int128)h * bits >> 64; }

void run(const ull *restrict keys, const ull *restrict queries, uint *restrict filter, uchar *restrict maybe,
         int *restrict count, int n, int asked, ull bits, ull seed) {
    for (int i = 0; i < n; i++) {
        ull h1 = xxhash64(keys[i], seed), h2 = fmix64(h1) | 1;
        for (int k = 0; k < HASHES; k++, h1 += h2) {
            ull bit = place(h1, bits);
            filter[bit >> 5] |= 1u << (bit & 31);
        }
    }
    int found_all = 0;
    for (int i = 0; i < asked; i++) {
        ull h1 = xxhash64(queries[i], seed), h2 = fmix64(h1) | 1;
        int found = 1;
        for (int k = 0; k < HASHES && found; k++, h1 += h2) {
            ull bit = place(h1, bits);
            found = filter[bit >> 5] >> (bit & 31) & 1;
        }
        maybe[i] = found;
        found_all += found;
    }
    *count += found_all;
}
