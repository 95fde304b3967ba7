#include "native.h"

static inline ull rol(ull x, int n) { return x << n | x >> (64 - n); }
void run(const ull *restrict in, const ull *restrict rc, ull *restrict out, int n) {
    static const int rot[24] = {1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44};
    static const int at[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1};
    for (int i = 0; i < n; i++) {
        ull s[25];
        for (int k = 0; k < 25; k++)
            s[k] = k < 4 ? in[k * n + i] : k;
        for (int r = 0; r < 24; r++) {
            ull c[5];
            for (int x = 0; x < 5; x++)
                c[x] = s[x] ^ s[x + 5] ^ s[x + 10] ^ s[x + 15] ^ s[x + 20];
            for (int x = 0; x < 5; x++) {
                ull d = c[(x + 4) % 5] ^ rol(c[(x + 1) % 5], 1);
                for (int y = 0; y < 25; y += 5)
                    s[y + x] ^= d;
            }
            ull t = s[1];
            for (int k = 0; k < 24; k++) {
                ull v = s[at[k]];
                s[at[k]] = rol(t, rot[k]);
                t = v;
            }
            for (int y = 0; y < 25; y += 5) {
                ull a = s[y], b = s[y + 1];
                s[y] ^= ~b & s[y + 2];
                s[y + 1] ^= ~s[y + 2] & s[y + 3];
                s[y + 2] ^= ~s[y + 3] & s[y + 4];
                s[y + 3] ^= ~s[y + 4] & a;
                s[y + 4] ^= ~a & b;
            }
            s[0] ^= rc[r];
        }
        for (int k = 0; k < 4; k++)
            out[k * n + i] = s[k];
    }
}
