// A lane is a thread of the CUDA version; two registers of them at once.
#include "native.h"
enum { SETS = 2 };

static inline uvec next(uvec s)
{
    s ^= s << 13;
    s ^= s >> 17;
    return s ^ s << 5;
}

static inline vec uniform(uvec s) { return __builtin_convertvector((ivec)(s >> 8), vec) * (REAL)5.9604644775390625e-8; }

void run(uint *restrict hits, int n, int samples)
{
    uvec lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    for (int i = 0; i < n; i += SETS * 16) {
        uvec state[SETS], inside[SETS] = {0};
        for (int h = 0; h < SETS; h++)
            state[h] = (lane + i + h * 16) * 2654435761u + 12345u;
        for (int k = 0; k < samples; k++)
#pragma GCC unroll 2
            for (int h = 0; h < SETS; h++) {
                state[h] = next(state[h]);
                vec x = uniform(state[h]);
                state[h] = next(state[h]);
                vec y = uniform(state[h]);
                inside[h] -= (uvec)(x * x + y * y < (REAL)1);
            }
        for (int h = 0; h < SETS; h++)
            USTORE(hits + i + h * 16, inside[h]);
    }
}
