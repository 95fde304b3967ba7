#include "native.h"

void run(const uint *restrict a, uint *restrict o, int n, int bits) {
    for (int i = 0; i < n; i++) {
        int at = i * bits, word = at >> 5, shift = at & 31;
        ull two = (ull)a[word + 1] << 32 | a[word];
        o[i] = (uint)(two >> shift) & ((1u << bits) - 1);
    }
}
