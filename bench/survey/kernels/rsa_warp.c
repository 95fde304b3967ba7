#include "native.h"
#define L 16
typedef unsigned __int128 u128;

// Limbs of 64 bits.
static void mont_mul(const ull *a, const ull *b, const ull *n, ull n0, ull *out) {
    ull t[L + 2] = {0};
    for (int i = 0; i < L; i++) {
        u128 c = 0;
        for (int j = 0; j < L; j++) {
            c += (u128)a[j] * b[i] + t[j];
            t[j] = c;
            c >>= 64;
        }
        c += t[L];
        t[L] = c;
        t[L + 1] = c >> 64;
        ull m = t[0] * n0;
        c = ((u128)m * n[0] + t[0]) >> 64;
        for (int j = 1; j < L; j++) {
            c += (u128)m * n[j] + t[j];
            t[j - 1] = c;
            c >>= 64;
        }
        c += t[L];
        t[L - 1] = c;
        t[L] = t[L + 1] + (ull)(c >> 64);
    }
    ull d[L], borrow = 0;
    for (int j = 0; j < L; j++) {
        u128 x = (u128)t[j] - n[j] - borrow;
        d[j] = x;
        borrow = (ull)(x >> 64) & 1;
    }
    memcpy(out, t[L] || !borrow ? d : t, sizeof d);
}

void run(const ull *restrict signature, const int *restrict key_of, const ull *restrict modulus,
         const ull *restrict r_squared, ull *restrict message, int count) {
    for (int w = 0; w < count; w++) {
        const ull *n = modulus + L * key_of[w];
        ull n0 = n[0], s[L], x[L], one[L] = {1};
        for (int i = 0; i < 5; i++)
            n0 *= 2 - n[0] * n0;
        n0 = -n0;
        mont_mul(signature + (long)L * w, r_squared + L * key_of[w], n, n0, s);
        memcpy(x, s, sizeof x);
        for (int i = 0; i < 16; i++)
            mont_mul(x, x, n, n0, x);
        mont_mul(x, s, n, n0, x);
        mont_mul(x, one, n, n0, message + (long)L * w);
    }
}
