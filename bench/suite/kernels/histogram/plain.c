#include "native.h"

void run(const uint *restrict words, uint *restrict counts, int n)
{
    for (int i = 0; i < n; i++) {
        counts[words[i] & 255]++;
        counts[words[i] >> 8 & 255]++;
        counts[words[i] >> 16 & 255]++;
        counts[words[i] >> 24]++;
    }
}
