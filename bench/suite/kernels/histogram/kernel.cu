// How often each byte occurs: counted with atomics in shared memory, then added up.
#include "dialect.h"

KERNEL void histogram(GLOBAL const uint *words, GLOBAL uint *counts, int n)
{
    SHARED uint mine[256];
    int t = THREAD_X, step = GRID_SIZE_X * BLOCK_SIZE_X;
    mine[t] = 0;
    BARRIER();
    for (int i = INDEX_X; i < n; i += step) {
        uint word = words[i];
        ATOMIC_ADD(&mine[word & 255], 1u);
        ATOMIC_ADD(&mine[word >> 8 & 255], 1u);
        ATOMIC_ADD(&mine[word >> 16 & 255], 1u);
        ATOMIC_ADD(&mine[word >> 24], 1u);
    }
    BARRIER();
    ATOMIC_ADD(&counts[t], mine[t]);
}
