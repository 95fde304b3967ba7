// SipHash-2-4 of strings of any length, and a table of how many fall into each bucket.
#include "native.h"

#define ROTL(x, b) ((x) << (b) | (x) >> (64 - (b)))
#define ROUND                                                                                                    \
    (v0 += v1, v1 = ROTL(v1, 13) ^ v0, v0 = ROTL(v0, 32), v2 += v3, v3 = ROTL(v3, 16) ^ v2, v0 += v3,             \
     v3 = ROTL(v3, 21) ^ v0, v2 += v1, v1 = ROTL(v1, 17) ^ v2, v2 = ROTL(v2, 32))

void run(const uchar *restrict data, const int *restrict offsets, ull *restrict hashes, int *restrict buckets,
         int count, ull k0, ull k1, int num_buckets) {
    for (int i = 0; i < count; i++) {
        const uchar *s = data + offsets[i];
        ull length = offsets[i + 1] - offsets[i], m;
        ull v0 = k0 ^ 0x736f6d6570736575, v1 = k1 ^ 0x646f72616e646f6d, v2 = k0 ^ 0x6c7967656e657261,
            v3 = k1 ^ 0x7465646279746573;
        for (const uchar *end = s + (length & ~7ull); s < end; s += 8) {
            memcpy(&m, s, 8);
            v3 ^= m;
            ROUND, ROUND;
            v0 ^= m;
        }
        m = length << 56;
        for (int b = 0; b < (length & 7); b++)
            m |= (ull)s[b] << 8 * b;
        v3 ^= m;
        ROUND, ROUND;
        v0 ^= m;
        v2 ^= 0xff;
        ROUND, ROUND, ROUND, ROUND;
        hashes[i] = v0 ^ v1 ^ v2 ^ v3;
        buckets[hashes[i] % num_buckets]++;
    }
}
