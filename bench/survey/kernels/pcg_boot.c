#include "native.h"

enum { W = 4 };
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
    for (int r = 0; r < replicas; r += W) {  // some side by side: a product waits for the one before
        u128 state[W];
        long long sum[W] = {0};
        for (int l = 0; l < W; l++)
            state[l] = advance(first, increment, (u128)(r + l) << 64);
        for (int i = 0; i < n; i++)
            for (int l = 0; l < W; l++) {
                u128 product = (u128)next(&state[l], increment) * (ull)n;
                if (__builtin_expect((ull)product < (ull)n, 0)) {
                    ull limit = (0 - (ull)n) % n;
                    while ((ull)product < limit)
                        product = (u128)next(&state[l], increment) * (ull)n;
                }
                sum[l] += data[product >> 64];
            }
        for (int l = 0; l < MIN(W, replicas - r); l++)
            sums[r + l] = sum[l];
    }
    for (int r = 0; r < replicas; r++) {
        long long b = (sums[r] * 1000 / n - low) / width;
        histogram[b < 0 ? 0 : b >= bins ? bins - 1 : b]++;
    }
}
