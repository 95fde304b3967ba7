// SHA-1 of passwords, 16 at a time, and which of them are wanted.
#include "native.h"
enum { LANES = 16, LENGTH = 5 };
#define ROTL(x, n) ((x) << (n) | (x) >> (32 - (n)))

static void sha1(uint w[16][LANES], uint digest[5][LANES]) {
    static const uint start[5] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    uint s[5][LANES];
    for (int k = 0; k < 5; k++)
        for (int l = 0; l < LANES; l++)
            s[k][l] = start[k];
#define ROUND(i, F, K)                                                                                              \
    _Pragma("omp simd") for (int l = 0; l < LANES; l++) {                                                           \
        uint a = s[0][l], b = s[1][l], c = s[2][l], d = s[3][l], e = s[4][l], x = w[(i) & 15][l];                   \
        if ((i) >= 16) {                                                                                            \
            x ^= w[((i) + 13) & 15][l] ^ w[((i) + 8) & 15][l] ^ w[((i) + 2) & 15][l];                               \
            w[(i) & 15][l] = x = ROTL(x, 1);                                                                        \
        }                                                                                                           \
        uint t = ROTL(a, 5) + (F) + e + K + x;                                                                      \
        s[4][l] = d, s[3][l] = c, s[2][l] = ROTL(b, 30), s[1][l] = a, s[0][l] = t;                                  \
    }
    for (int i = 0; i < 16; i++)
        ROUND(i, d ^ (b & (c ^ d)), 0x5A827999u)
    for (int i = 16; i < 20; i++)
        ROUND(i, d ^ (b & (c ^ d)), 0x5A827999u)
    for (int i = 20; i < 40; i++)
        ROUND(i, b ^ c ^ d, 0x6ED9EBA1u)
    for (int i = 40; i < 60; i++)
        ROUND(i, (b & c) | (d & (b | c)), 0x8F1BBCDCu)
    for (int i = 60; i < 80; i++)
        ROUND(i, b ^ c ^ d, 0xCA62C1D6u)
    for (int k = 0; k < 5; k++)
        for (int l = 0; l < LANES; l++)
            digest[k][l] = start[k] + s[k][l];
}

void run(const uint *restrict targets, long long *restrict found, int *restrict zeros, int num_targets,
         long long first, int n) {
    int count = 0;
    for (int i = 0; i < n; i += LANES) {
        uint w[16][LANES] = {0}, digest[5][LANES];
        int lanes = MIN(LANES, n - i);
        for (int l = 0; l < LANES; l++) {
            uint number = first + i + l, c[LENGTH];
            for (int k = LENGTH - 1; k >= 0; k--)
                c[k] = 'a' + number % 26, number /= 26;
            w[0][l] = c[0] << 24 | c[1] << 16 | c[2] << 8 | c[3];
            w[1][l] = c[4] << 24 | 0x800000;
            w[15][l] = LENGTH * 8;
        }
        sha1(w, digest);
        for (int l = 0; l < lanes; l++)
            count += digest[0][l] >> 24 == 0;
        for (int t = 0; t < num_targets; t++) {
            const uint *wanted = targets + t * 5;
            uint any = 0;
            for (int l = 0; l < LANES; l++)
                any |= digest[0][l] == wanted[0];
            if (any)
                for (int l = 0; l < lanes; l++) {
                    int same = 1;
                    for (int k = 0; k < 5; k++)
                        same &= digest[k][l] == wanted[k];
                    if (same)
                        found[t] = first + i + l;
                }
        }
    }
    *zeros += count;
}
