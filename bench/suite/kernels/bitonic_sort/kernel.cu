// Sorts 2^k integers: far exchanges in global memory, those within 512 elements in shared memory.
#include "dialect.h"

KERNEL void far_step(GLOBAL uint *data, uint distance, uint width)
{
    uint t = INDEX_X;
    uint low = 2 * t - (t & (distance - 1)), high = low + distance;
    uint a = data[low], b = data[high];
    if ((a > b) == ((low & width) == 0)) {
        data[low] = b;
        data[high] = a;
    }
}

KERNEL void near_steps(GLOBAL uint *data, uint distance, uint width)
{
    SHARED uint part[512];
    uint t = THREAD_X, start = BLOCK_X * 512;
    part[t] = data[start + t];
    part[t + 256] = data[start + t + 256];
    BARRIER();
    for (; distance > 0; distance >>= 1) {
        uint low = 2 * t - (t & (distance - 1)), high = low + distance;
        uint a = part[low], b = part[high];
        if ((a > b) == (((start + low) & width) == 0)) {
            part[low] = b;
            part[high] = a;
        }
        BARRIER();
    }
    data[start + t] = part[t];
    data[start + t + 256] = part[t + 256];
}
