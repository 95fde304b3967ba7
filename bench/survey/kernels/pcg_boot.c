#include "native.h"

typedef unsigned __int128 u128;
static const u128 M = (u128)2549297995355413924ull << 64 | 4865540595714422341ull;

static inline ull next(u128 *state, u128 increment) {
    *state = *state * M + increment;
    ull x = (ull)(*state >> 64) ^ (ull)*state;
    int r = (int)(*state >> 122);
    return x >> r | x << (-r & 63);
}

static u128 advance(u128 state, u128 increment, u128 delta) {
    u128 mult = 1, plus = 0, m = M, p = increment;
    for (; delta; delta >>= 1) {
        if (delta & 1) {
            mult *= m;
            plus = plus * m + p;
        }
        p *= m + 1;
        m *= m;
    }
    return mult * state + plus;
}

void run(const short *restrict data, long long *restrict sums, const ull *restrict seeds, uint *restrict histogram,
         int n, int replicas, long long low, long long width, int bins) {
    u128 increment = ((u128)seeds[3] << 64 | seeds[2]) << 1 | 1, first = 0;
    next(&first, increment);
    first += (u128)seeds[1] << 64 | seeds[0];
    next(&first, increment);
    for (int r = 0; r < replicas; r++) {
        u128 state = advance(first, increment, (u128)r << 64);
        long long sum = 0;
        for (int i = 0; i < n; i++) {
            u128 product = (u128)next(&state, increment) * (ull)n;
            if ((ull)product < (ull)n) {
                ull limit = (0 - (ull)n) % n;
                while ((ull)product < limit)
                    product = (u128)next(&state, increment) * (ull)n;
            }
            sum += data[product >> 64];
        }
        sums[r] = sum;
    }
    for (int r = 0; r < replicas; r++) {
        long long b = (sums[r] * 1000 / n - low) / width;
        histogram[b < 0 ? 0 : b >= bins ? bins - 1 : b]++;
    }
}
