#include "native.h"

static inline uint next(uint s)
{
    s ^= s << 13;
    s ^= s >> 17;
    return s ^ s << 5;
}

void run(uint *restrict hits, int n, int samples)
{
    for (int i = 0; i < n; i++) {
        uint state = (uint)i * 2654435761u + 12345u, inside = 0;
        for (int k = 0; k < samples; k++) {
            state = next(state);
            REAL x = (REAL)(state >> 8) * (REAL)5.9604644775390625e-8;
            state = next(state);
            REAL y = (REAL)(state >> 8) * (REAL)5.9604644775390625e-8;
            inside += x * x + y * y < (REAL)1;
        }
        hits[i] = inside;
    }
}
