// How often each byte occurs: counted with atomics in shared memory, then added up. Each CTA counts a part of its own.
#include "dialect.h"

KERNEL void histogram(GLOBAL const uint *words, GLOBAL uint *counts, int n)
{
    SHARED uint mine[512]; // two copies, so that neighbours that are equal wait less for each other
    int t = THREAD_X, part = (n + GRID_SIZE_X - 1) / GRID_SIZE_X, first = BLOCK_X * part;
    int end = first + part < n ? first + part : n;
    mine[t] = 0;
    mine[t + 256] = 0;
    BARRIER();
    for (int i = first + t; i < end; i += BLOCK_SIZE_X) {
        uint word = words[i];
        ATOMIC_ADD(&mine[word & 255], 1u);
        ATOMIC_ADD(&mine[256 + (word >> 8 & 255)], 1u);
        ATOMIC_ADD(&mine[word >> 16 & 255], 1u);
        ATOMIC_ADD(&mine[256 + (word >> 24)], 1u);
    }
    BARRIER();
    ATOMIC_ADD(&counts[t], mine[t] + mine[t + 256]);
}
