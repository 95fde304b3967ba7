#include "native.h"

// Ranks of a list's nodes by jumping over pointers, and its values in the list's order.
void run(const int *restrict next, ull *restrict a, ull *restrict b, const float *restrict value,
         float *restrict ordered, int n, int rounds) {
    for (int i = 0; i < n; i++)
        a[i] = next[i] < 0 ? (ull)i << 32 : (ull)next[i] << 32 | 1;
    ull *from = a, *to = b;
    for (int r = 0; r < rounds; r++) {
        const ull *restrict f = from;
        ull *restrict t = to;
        for (int i = 0; i < n; i++) {
            ull node = f[i], other = f[node >> 32];  // the last node's distance is 0
            t[i] = (other >> 32 << 32) | (uint)((uint)node + (uint)other);
        }
        ull *other = from;
        from = to;
        to = other;
    }
    for (int i = 0; i < n; i++)
        ordered[n - 1 - (uint)from[i]] = value[i];
}
