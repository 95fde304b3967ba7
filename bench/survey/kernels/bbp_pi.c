#include "native.h"

// Moduli are of less than 32 bits.
static inline uint power_16(uint exponent, uint modulus) {
    uint64_t result = 1 % modulus, base = 16 % modulus;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = modulus < 65536 ? (uint)result * (uint)base % modulus : result * base % modulus;
        base = modulus < 65536 ? (uint)base * (uint)base % modulus : base * base % modulus;
    }
    return result;
}

static double series(int j, long long n) {
    double sum = 0, power = 1.0 / 16;
    for (long long k = 0; k <= n; k++) {
        double m = 8 * k + j;
        sum += power_16(n - k, 8 * k + j) / m;
        sum -= sum >= 1;
    }
    for (long long k = n + 1;; k++, power /= 16) {
        double term = power / (8 * k + j);
        if (term < 1e-17)
            break;
        sum += term;
    }
    return sum - floor(sum);
}

void run(char *restrict digits, double *restrict fractions, int count, long long start) {
    for (int i = 0; i < count; i++) {
        long long n = start + i;
        double x = 4 * series(1, n) - 2 * series(4, n) - series(5, n) - series(6, n);
        x -= floor(x);
        fractions[i] = x;
        digits[i] = "0123456789ABCDEF"[(int)(x * 16)];
    }
}
