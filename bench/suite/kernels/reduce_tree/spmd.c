#include "native.h"

void run(const REAL *restrict x, REAL *restrict sums, int n)
{
    for (int block = 0; block < n / 1024; block++) {
        const REAL *from = x + block * 1024;
        vec part[4] = {0};
        for (int i = 0; i < 1024; i += 4 * LANES)
#pragma GCC unroll 4
            for (int h = 0; h < 4; h++)
                part[h] += LOAD(from + i + h * LANES);
        vec all = (part[0] + part[1]) + (part[2] + part[3]);
        REAL sum = 0;
        for (int l = 0; l < LANES; l++)
            sum += all[l];
        sums[block] = sum;
    }
}
