// The sum of every 1024 elements: warps add by shuffles, then one warp adds the eight warps' sums.
#include "dialect.h"
#ifdef __OPENCL_VERSION__
#error "OpenCL 1.2 has no warp shuffles"
#endif

DEVICE REAL warp_sum(REAL value)
{
    UNROLL for (int s = 16; s > 0; s >>= 1)
        value += __shfl_down_sync(0xffffffffu, value, s);
    return value;
}

KERNEL void reduce_shuffle(GLOBAL const REAL *x, GLOBAL REAL *sums)
{
    SHARED REAL part[8];
    int t = THREAD_X, i = BLOCK_X * 1024 + t;
    REAL sum = warp_sum(x[i] + x[i + 256] + x[i + 512] + x[i + 768]);
    if (t % 32 == 0)
        part[t / 32] = sum;
    BARRIER();
    if (t < 32) {
        sum = warp_sum(t < 8 ? part[t] : 0);
        if (t == 0)
            sums[BLOCK_X] = sum;
    }
}
