#include "native.h"

void run(const uint *restrict data, uint *restrict counts, int words) {
    for (int i = 0; i < words; i++) {
        uint w = data[i];
        counts[w >> 2 & 63]++;
        counts[w >> 10 & 63]++;
        counts[w >> 18 & 63]++;
        counts[w >> 26 & 63]++;
    }
}
