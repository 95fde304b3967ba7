// Fourier transforms of 1024 points, radix 2 in shared memory; 512 threads each take one pair a step.
#include "dialect.h"

KERNEL void fft(GLOBAL REAL *re, GLOBAL REAL *im, GLOBAL const REAL *cosines, GLOBAL const REAL *sines)
{
    SHARED REAL x[1024], y[1024];
    int t = THREAD_X, start = BLOCK_X * 1024;
    int from = start + (int)(reverse_bits((uint)t) >> 22);
    x[t] = re[from];
    y[t] = im[from];
    from = start + (int)(reverse_bits((uint)(t + 512)) >> 22);
    x[t + 512] = re[from];
    y[t + 512] = im[from];
    BARRIER();
    for (int span = 1; span < 1024; span <<= 1) {
        int k = t & (span - 1), a = 2 * t - k, b = a + span, turn = k * (512 / span);
        REAL c = cosines[turn], s = sines[turn];
        REAL u = x[b] * c + y[b] * s, v = y[b] * c - x[b] * s;
        REAL ax = x[a], ay = y[a];
        x[a] = ax + u;
        y[a] = ay + v;
        x[b] = ax - u;
        y[b] = ay - v;
        BARRIER();
    }
    re[start + t] = x[t];
    im[start + t] = y[t];
    re[start + t + 512] = x[t + 512];
    im[start + t + 512] = y[t + 512];
}
