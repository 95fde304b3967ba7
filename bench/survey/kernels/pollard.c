// Factors of 64-bit numbers by Pollard's rho in Brent's form.
#include "native.h"

static inline ull multiply(ull a, ull b, ull n, ull inverse) {
    unsigned __int128 p = (unsigned __int128)a * b;
    ull m = (ull)p * inverse, t = (ull)(p >> 64) + (ull)((unsigned __int128)m * n >> 64) + ((ull)p != 0);
    return t >= n ? t - n : t;
}

static inline ull step(ull x, ull c, ull n, ull inverse) {
    ull y = multiply(x, x, n, inverse) + c;
    return y >= n ? y - n : y;
}

static inline ull apart(ull a, ull b) { return a > b ? a - b : b - a; }

static ull gcd(ull a, ull b) {
    if (a == 0 || b == 0)
        return a | b;
    int shift = __builtin_ctzll(a | b);
    a >>= __builtin_ctzll(a);
    do {
        b >>= __builtin_ctzll(b);
        ull low = MIN(a, b);
        b = apart(a, b);
        a = low;
    } while (b);
    return a << shift;
}

void run(const ull *restrict numbers, ull *restrict factors, int *restrict steps, int count) {
    for (int id = 0; id < count; id++) {
        ull n = numbers[id], g = 1;
        int done = 0;
        if (n & 1) {
            ull inverse = n * 3 ^ 2;
            for (int bits = 5; bits < 64; bits *= 2)
                inverse *= 2 - n * inverse;
            inverse = -inverse;
            for (ull c = 1;; c++) {
                ull y = 2 + c, q = 1, x, kept;
                g = 1;
                for (int r = 1; g == 1; r *= 2) {
                    x = y;
                    for (int i = 0; i < r; i++)
                        y = step(y, c, n, inverse);
                    done += r;
                    for (int k = 0; k < r && g == 1; k += 48) {
                        kept = y;
                        int some = MIN(48, r - k);
                        for (int i = 0; i < some; i++) {
                            y = step(y, c, n, inverse);
                            q = multiply(q, apart(x, y), n, inverse);
                        }
                        done += some;
                        g = gcd(q, n);
                    }
                }
                if (g == n)
                    do {
                        kept = step(kept, c, n, inverse);
                        g = gcd(apart(x, kept), n);
                        done++;
                    } while (g == 1);
                if (g != n)
                    break;
            }
        } else
            g = 2;
        factors[id] = MIN(g, n / g);
        steps[id] = done;
    }
}
