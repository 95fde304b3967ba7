#include "native.h"
typedef unsigned __int128 u128;

static const ull P[4] = {0xfffffffefffffc2f, ~0ull, ~0ull, ~0ull};
#define INVERSE 0xd838091dd2253531ull

// With four limbs of 64 bits.
static inline void mont_mul(ull *to, const ull *a, const ull *b) {
    ull t[6] = {0};
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        ull carry = 0;
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) {
            u128 s = (u128)a[j] * b[i] + t[j] + carry;
            t[j] = s;
            carry = s >> 64;
        }
        u128 s = (u128)t[4] + carry;
        t[4] = s;
        t[5] = s >> 64;
        ull m = t[0] * INVERSE;
        s = (u128)m * P[0] + t[0];
        carry = s >> 64;
#pragma GCC unroll 4
        for (int j = 1; j < 4; j++) {
            s = (u128)m * P[j] + t[j] + carry;
            t[j - 1] = s;
            carry = s >> 64;
        }
        s = (u128)t[4] + carry;
        t[3] = s;
        t[4] = t[5] + (ull)(s >> 64);
    }
    ull less[4], borrow = 0;
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
        u128 d = (u128)t[j] - P[j] - borrow;
        less[j] = d;
        borrow = (ull)(d >> 64) & 1;
    }
    int keep = t[4] == 0 && borrow;
    for (int j = 0; j < 4; j++)
        to[j] = keep ? t[j] : less[j];
}

void run(const ull *restrict x, const ull *restrict y, ull *restrict result, int n, int rounds) {
    for (int i = 0; i < n; i++) {
        ull a[4], b[4];
        memcpy(a, x + 4L * i, 32);
        memcpy(b, y + 4L * i, 32);
        for (int r = 0; r < rounds; r++) {
            mont_mul(a, a, a);
            mont_mul(a, a, b);
        }
        memcpy(result + 4L * i, a, 32);
    }
}
