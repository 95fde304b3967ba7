#include "native.h"

typedef __int128 i128;
typedef unsigned __int128 u128;

static const uint powers[10] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};

// By a number of 32 bits, digit by digit, without the library's 128-bit division.
static inline u128 divide(u128 a, uint b, uint *rest) {
    ull high = a >> 64, low = a, q3 = 0;
    if (high)
        q3 = high / b;
    ull r = high - q3 * b;
    ull t2 = r << 32 | low >> 32, q2 = t2 / b;
    ull t1 = (t2 - q2 * b) << 32 | (low & 0xffffffffu), q1 = t1 / b;
    *rest = t1 - q1 * b;
    return (u128)q3 << 64 | q2 << 32 | q1;
}

static inline int multiply(i128 a, long long b, uint scale, i128 *result) {
    int negative = (a < 0) != (b < 0);
    u128 x = a < 0 ? -(u128)a : (u128)a, product;
    ull y = b < 0 ? 0 - (ull)b : (ull)b;
    if (__builtin_mul_overflow(x, (u128)y, &product))
        return 0;
    uint rest;
    u128 quotient = divide(product, scale, &rest);
    quotient += rest >= scale - rest;
    if (quotient >> 127)
        return 0;
    *result = negative ? -(i128)quotient : (i128)quotient;
    return 1;
}

void run(const i128 *restrict price, const long long *restrict rate, const uint *restrict valid,
         const uchar *restrict group, i128 *restrict product, uint *restrict product_valid, i128 *restrict sums,
         uint *restrict counts, i128 *restrict average, int n, int groups, int digits) {
    uint scale = powers[digits];
    for (int first = 0; first < n; first += 32) {
        uint bits = 0;
        for (int i = first; i < MIN(first + 32, n); i++) {
            i128 value = 0;
            if (valid[i >> 5] >> (i & 31) & 1 && multiply(price[i], rate[i], scale, &value)) {
                bits |= 1u << (i & 31);
                sums[group[i]] += value;
                counts[group[i]]++;
            }
            product[i] = value;
        }
        product_valid[first >> 5] = bits;
    }
    for (int g = 0; g < groups; g++) {
        i128 sum = sums[g], count = counts[g];
        average[g] = count ? (sum + (sum < 0 ? -count : count) / 2) / count : 0;
    }
}
