// Four tables, so that equal neighbours do not wait for each other.
#include "native.h"

void run(const uint *restrict words, uint *restrict counts, int n)
{
    uint table[4][256] = {0};
    for (int i = 0; i < n; i++) {
        uint word = words[i];
        table[0][word & 255]++;
        table[1][word >> 8 & 255]++;
        table[2][word >> 16 & 255]++;
        table[3][word >> 24]++;
    }
    for (int b = 0; b < 256; b++)
        counts[b] += table[0][b] + table[1][b] + table[2][b] + table[3][b];
}
