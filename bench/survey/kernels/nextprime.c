// The next prime after each of some numbers: trial division, then Miller and Rabin's test.
#include "native.h"
typedef unsigned __int128 u128;
enum { SMALL = 53 };

static inline uint64_t times(uint64_t a, uint64_t b, uint64_t m) {
#if defined(__x86_64__)
    // a, b < m: the quotient fits into 64 bits.
    uint64_t low, high, quotient, rest;
    __asm__("mul %3" : "=a"(low), "=d"(high) : "a"(a), "r"(b) : "cc");
    __asm__("div %4" : "=a"(quotient), "=d"(rest) : "a"(low), "d"(high), "r"(m) : "cc");
    return rest;
#else
    return (u128)a * b % m;
#endif
}

static int strong_probable_prime(uint64_t n, uint64_t base) {
    base %= n;
    if (base == 0)
        return 1;
    int twos = __builtin_ctzll(n - 1);
    uint64_t x = 1;
    for (uint64_t e = (n - 1) >> twos; e; e >>= 1) {
        if (e & 1)
            x = times(x, base, n);
        base = times(base, base, n);
    }
    if (x == 1 || x == n - 1)
        return 1;
    for (int i = 1; i < twos; i++) {
        x = times(x, x, n);
        if (x == n - 1)
            return 1;
    }
    return 0;
}

static int is_prime(const uint16_t *small, uint64_t n) {
    static const uint bases[] = {2, 325, 9375, 28178, 450775, 9780504, 1795265022};
    for (int k = 0; k < SMALL; k++)
        if (n % small[k] == 0)
            return n == small[k];
    for (int k = 0; k < 7; k++)
        if (!strong_probable_prime(n, bases[k]))
            return 0;
    return 1;
}

void run(const ull *restrict numbers, ull *restrict primes, int count) {
    uint16_t small[SMALL];
    int found = 0;
    for (int n = 3; found < SMALL; n += 2) {
        int prime = 1;
        for (int k = 0; k < found; k++)
            prime &= n % small[k] != 0;
        if (prime)
            small[found++] = n;
    }
    for (int i = 0; i < count; i++) {
        uint64_t n = numbers[i];
        if (n < 2) {
            primes[i] = 2;
            continue;
        }
        n += 1 + (n & 1);
        while (!is_prime(small, n))
            n += 2;
        primes[i] = n;
    }
}
