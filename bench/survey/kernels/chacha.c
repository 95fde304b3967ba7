#include "native.h"

#define ROT(x, n) (((x) << n) | ((x) >> (32 - n)))
#define QR(a, b, c, d)                                                                                       \
    a += b;                                                                                                  \
    d ^= a;                                                                                                  \
    d = ROT(d, 16);                                                                                          \
    c += d;                                                                                                  \
    b ^= c;                                                                                                  \
    b = ROT(b, 12);                                                                                          \
    a += b;                                                                                                  \
    d ^= a;                                                                                                  \
    d = ROT(d, 8);                                                                                           \
    c += d;                                                                                                  \
    b ^= c;                                                                                                  \
    b = ROT(b, 7);

void run(const uint *restrict key, const uint *restrict in, uint *restrict out, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++) {
        uint s[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, key[0],  key[1], key[2], key[3],
                      key[4],     key[5],     key[6],     key[7],     (uint)i, key[8], key[9], key[10]};
        uint x0 = s[0], x1 = s[1], x2 = s[2], x3 = s[3], x4 = s[4], x5 = s[5], x6 = s[6], x7 = s[7],
             x8 = s[8], x9 = s[9], x10 = s[10], x11 = s[11], x12 = s[12], x13 = s[13], x14 = s[14],
             x15 = s[15];
        for (int r = 0; r < 10; r++) {
            QR(x0, x4, x8, x12);
            QR(x1, x5, x9, x13);
            QR(x2, x6, x10, x14);
            QR(x3, x7, x11, x15);
            QR(x0, x5, x10, x15);
            QR(x1, x6, x11, x12);
            QR(x2, x7, x8, x13);
            QR(x3, x4, x9, x14);
        }
        const uint *p = in + 16 * (long)i;
        uint *o = out + 16 * (long)i;
#define O(k, x) o[k] = p[k] ^ (x + s[k]);
        O(0, x0);
        O(1, x1);
        O(2, x2);
        O(3, x3);
        O(4, x4);
        O(5, x5);
        O(6, x6);
        O(7, x7);
        O(8, x8);
        O(9, x9);
        O(10, x10);
        O(11, x11);
        O(12, x12);
        O(13, x13);
        O(14, x14);
        O(15, x15);
    }
}
