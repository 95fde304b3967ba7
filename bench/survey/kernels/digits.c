#include "native.h"

void run(const uint *restrict in, uint *restrict counts, int n) {
    for (int i = 0; i < n; i++)
        for (uint v = in[i]; v; v >>= 4)
            counts[v & 15]++;
}
