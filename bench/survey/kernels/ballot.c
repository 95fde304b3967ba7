#include "native.h"

void run(const int *restrict a, uint *restrict bits, int *restrict counts, int n, int limit) {
    for (int i = 0; i < n; i += 32) {
        uint m = 0;
        for (int k = 0; k < 32 && i + k < n; k++)
            m |= (uint)(a[i + k] > limit) << k;
        bits[i / 32] = m;
        counts[i / 32] = __builtin_popcount(m);
    }
}
