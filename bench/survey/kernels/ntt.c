#include "native.h"

void run(uint *restrict d, const uint *restrict w, uint p, int n) {
    for (int half = 1; half < n; half *= 2) {
        int step = n / 2 / half;
        for (int i = 0; i < n; i += 2 * half)
            for (int j = 0; j < half; j++) {
                uint a = d[i + j], b = (ull)d[i + j + half] * w[j * step] % p, s = a + b;
                d[i + j] = s >= p ? s - p : s;
                d[i + j + half] = a >= b ? a - b : a + p - b;
            }
    }
}
