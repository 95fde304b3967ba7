#include "native.h"

static const uint IV[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
static const uchar SIGMA[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

static inline uint rotr(uint x, int n) { return x >> n | x << (32 - n); }

#define G(a, b, c, d, x, y)  \
    do {                     \
        a = a + b + (x);     \
        d = rotr(d ^ a, 16); \
        c = c + d;           \
        b = rotr(b ^ c, 12); \
        a = a + b + (y);     \
        d = rotr(d ^ a, 8);  \
        c = c + d;           \
        b = rotr(b ^ c, 7);  \
    } while (0)

static void compress(uint *h, const uint *m, uint counter, uint last) {
    uint v[16];
    for (int i = 0; i < 8; i++) {
        v[i] = h[i];
        v[i + 8] = IV[i];
    }
    v[12] ^= counter;
    v[14] ^= last;
#pragma GCC unroll 10
    for (int r = 0; r < 10; r++) {
        const uchar *s = SIGMA[r];
        G(v[0], v[4], v[8], v[12], m[s[0]], m[s[1]]);
        G(v[1], v[5], v[9], v[13], m[s[2]], m[s[3]]);
        G(v[2], v[6], v[10], v[14], m[s[4]], m[s[5]]);
        G(v[3], v[7], v[11], v[15], m[s[6]], m[s[7]]);
        G(v[0], v[5], v[10], v[15], m[s[8]], m[s[9]]);
        G(v[1], v[6], v[11], v[12], m[s[10]], m[s[11]]);
        G(v[2], v[7], v[8], v[13], m[s[12]], m[s[13]]);
        G(v[3], v[4], v[9], v[14], m[s[14]], m[s[15]]);
    }
    for (int i = 0; i < 8; i++)
        h[i] ^= v[i] ^ v[i + 8];
}

void run(const uchar *restrict text, const uint *restrict start, uchar *restrict digest, int n) {
    for (int i = 0; i < n; i++) {
        const uchar *message = text + start[i];
        uint length = start[i + 1] - start[i], done = 0, h[8], m[16];
        memcpy(h, IV, sizeof h);
        h[0] ^= 0x01010020;
        for (; length - done > 64; ) {
            memcpy(m, message + done, 64);
            done += 64;
            compress(h, m, done, 0);
        }
        memset(m, 0, sizeof m);
        memcpy(m, message + done, length - done);
        compress(h, m, length, ~0u);
        memcpy(digest + 32L * i, h, 32);
    }
}
