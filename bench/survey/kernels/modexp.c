#include "native.h"

static ull high(ull a, ull b) { return (ull)((unsigned __int128)a * b >> 64); }

static ull product(ull a, ull b, ull n, ull inverse) {
    ull h = high(a, b), low = a * b, q = low * inverse, m = high(q, n);
    return h >= m ? h - m : h - m + n;
}

void run(const ull *restrict base, ull *restrict out, ull n, ull inverse, ull one, uint exponent, int count) {
    for (int i = 0; i < count; i++) {
        ull x = base[i], r = one;
        for (uint e = exponent; e; e >>= 1) {
            if (e & 1)
                r = product(r, x, n, inverse);
            x = product(x, x, n, inverse);
        }
        out[i] = r;
    }
}
