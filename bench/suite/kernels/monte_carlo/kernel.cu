// Random points in a square, each thread with its own xorshift generator: how many lie in the circle.
#include "dialect.h"

DEVICE uint next(uint s)
{
    s ^= s << 13;
    s ^= s >> 17;
    return s ^ s << 5;
}

KERNEL void monte_carlo(GLOBAL uint *hits, int n, int samples)
{
    int i = INDEX_X;
    if (i >= n)
        return;
    uint state = (uint)i * 2654435761u + 12345u, inside = 0;
    for (int k = 0; k < samples; k++) {
        state = next(state);
        REAL x = (REAL)(state >> 8) * (REAL)5.9604644775390625e-8;
        state = next(state);
        REAL y = (REAL)(state >> 8) * (REAL)5.9604644775390625e-8;
        if (x * x + y * y < (REAL)1)
            inside++;
    }
    hits[i] = inside;
}
