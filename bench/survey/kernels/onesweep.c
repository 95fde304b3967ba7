// Pairs of 32 bits sorted by digits of 8 bits, least first
#include "native.h"

void run(uint *restrict keys, uint *restrict values, uint *restrict other_keys, uint *restrict other_values, int n) {
    uint counts[4][256] = {0};
    for (int i = 0; i < n; i++) {
        uint k = keys[i];
        counts[0][k & 255]++;
        counts[1][k >> 8 & 255]++;
        counts[2][k >> 16 & 255]++;
        counts[3][k >> 24]++;
    }
    for (int p = 0; p < 4; p++) {
        uint start = 0, *count = counts[p];
        for (int d = 0; d < 256; d++) {
            uint c = count[d];
            count[d] = start;
            start += c;
        }
        const uint *restrict k = p & 1 ? other_keys : keys, *restrict v = p & 1 ? other_values : values;
        uint *restrict to_k = p & 1 ? keys : other_keys, *restrict to_v = p & 1 ? values : other_values;
        for (int i = 0; i < n; i++) {
            uint key = k[i], at = count[key >> 8 * p & 255]++;
            to_k[at] = key;
            to_v[at] = v[i];
        }
    }
}
