#include "native.h"

#define DIGITS 16

static void pass(const ull *restrict keys, const uint *restrict values, ull *restrict keys_out,
                 uint *restrict values_out, const uint *counts, int n, int shift) {
    uint place[DIGITS], sum = 0;
    for (int d = 0; d < DIGITS; d++) {
        place[d] = sum;
        sum += counts[d];
    }
    for (int i = 0; i < n; i++) {
        uint to = place[keys[i] >> shift & (DIGITS - 1)]++;
        keys_out[to] = keys[i];
        values_out[to] = values[i];
    }
}

// The digits of both passes are counted at once.
void run(ull *restrict keys, uint *restrict values, ull *restrict other_keys, uint *restrict other_values, int n,
         int shift) {
    uint low[4][DIGITS] = {}, high[4][DIGITS] = {};
    for (int i = 0; i < n; i++) {
        // one of four histograms, as neighbours often have the same digit
        low[i & 3][keys[i] >> shift & (DIGITS - 1)]++;
        high[i & 3][keys[i] >> (shift + 4) & (DIGITS - 1)]++;
    }
    for (int d = 0; d < DIGITS; d++)
        for (int k = 1; k < 4; k++) {
            low[0][d] += low[k][d];
            high[0][d] += high[k][d];
        }
    pass(keys, values, other_keys, other_values, low[0], n, shift);
    pass(other_keys, other_values, keys, values, high[0], n, shift + 4);
}
