// The sum of every 1024 elements: a CTA of 256 threads halves them in shared memory.
#include "dialect.h"

KERNEL void reduce_tree(GLOBAL const REAL *x, GLOBAL REAL *sums)
{
    SHARED REAL part[256];
    int t = THREAD_X, i = BLOCK_X * 1024 + t;
    part[t] = x[i] + x[i + 256] + x[i + 512] + x[i + 768];
    BARRIER();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s)
            part[t] += part[t + s];
        BARRIER();
    }
    if (t == 0)
        sums[BLOCK_X] = part[0];
}
