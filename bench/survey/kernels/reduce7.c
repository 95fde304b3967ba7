// Seven times the sum of integers, by blocks of several sizes.
#include "native.h"

enum { BLOCK = 256 };

static int sum_of(const int *restrict data, uint count) {
    int sum = 0;
#pragma omp simd reduction(+ : sum)
    for (uint i = 0; i < count; i++)
        sum += data[i];
    return sum;
}

static long long total(const int *restrict data, int count) {
    long long sum = 0;
    for (int i = 0; i < count; i++)
        sum += data[i];
    return sum;
}

// Parts of `part` elements go to `blocks` blocks in turn.
static long long sums(const int *restrict data, int *restrict out, uint n, uint part, int blocks) {
    memset(out, 0, blocks * sizeof *out);
    int b = 0;
    for (uint i = 0; i < n; i += part) {
        out[b] += sum_of(data + i, MIN(part, n - i));
        b = b + 1 < blocks ? b + 1 : 0;
    }
    return total(out, blocks);
}

void run(const int *restrict data, int *restrict modulo, int *restrict strided, int *restrict halves,
         int *restrict load_two, int *restrict last_warp, int *restrict unrolled, int *restrict warps,
         long long *restrict totals, uint n, int one, int two, int few) {
    totals[0] = sums(data, modulo, n, BLOCK, one);
    totals[1] = sums(data, strided, n, BLOCK, one);
    totals[2] = sums(data, halves, n, BLOCK, one);
    totals[3] = sums(data, load_two, n, 2 * BLOCK, two);
    totals[4] = sums(data, last_warp, n, 2 * BLOCK, two);
    totals[5] = sums(data, unrolled, n, 2 * BLOCK, few);
    int rest = sum_of(data + n / 4 * 4, n % 4);
    totals[6] = sums(data, warps, n / 4 * 4, 4 * BLOCK, few) + rest;
    warps[0] += rest;
}
