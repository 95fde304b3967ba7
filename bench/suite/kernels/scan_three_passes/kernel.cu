// Inclusive prefix sums in three phases: within 1024 elements, of their sums, and both together.
#include "dialect.h"

KERNEL void scan_blocks(GLOBAL const uint4 *x, GLOBAL uint4 *out, GLOBAL uint *sums)
{
    SHARED uint part[256];
    int t = THREAD_X, i = INDEX_X;
    uint4 v = x[i];
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    part[t] = v.w;
    BARRIER();
    for (int s = 1; s < 256; s <<= 1) {
        uint before = t >= s ? part[t - s] : 0;
        BARRIER();
        part[t] += before;
        BARRIER();
    }
    uint before = part[t] - v.w;
    v.x += before;
    v.y += before;
    v.z += before;
    v.w += before;
    out[i] = v;
    if (t == 255)
        sums[BLOCK_X] = part[t];
}

KERNEL void add_sums(GLOBAL uint4 *out, GLOBAL const uint *sums)
{
    if (BLOCK_X == 0)
        return;
    uint before = sums[BLOCK_X - 1];
    uint4 v = out[INDEX_X];
    v.x += before;
    v.y += before;
    v.z += before;
    v.w += before;
    out[INDEX_X] = v;
}
