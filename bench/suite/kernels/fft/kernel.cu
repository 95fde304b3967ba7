// Fourier transforms of 1024 points, radix 2 in shared memory; 512 threads each take one pair a step. Stockham's
// order: a step reads what is 512 apart and writes it sorted by one bit more, so that nothing is reversed, and
// neighbours take the same angle, or neighbours in the tables, which are in shared memory too.
#include "dialect.h"

KERNEL void fft(GLOBAL REAL *re, GLOBAL REAL *im, GLOBAL const REAL *cosines, GLOBAL const REAL *sines)
{
    SHARED REAL x[2][1024], y[2][1024], cosine[512], sine[512];
    int t = THREAD_X, lower = BLOCK_X * 1024 + t, upper = lower + 512, to = 0;
    REAL ax = re[lower], ay = im[lower], bx = re[upper], by = im[upper];
    REAL c = cosines[t], s = sines[t];
    cosine[t] = c;
    sine[t] = s;
    for (int span = 1; span < 512; span <<= 1) {
        int k = t & (span - 1), a = 2 * t - k, b = a + span;
        if (span > 1) {
            c = cosine[t - k];
            s = sine[t - k];
        }
        REAL u = ax - bx, v = ay - by, turned_x = u * c + v * s, turned_y = v * c - u * s;
        x[to][a] = ax + bx;
        x[to][b] = turned_x;
        y[to][a] = ay + by;
        y[to][b] = turned_y;
        BARRIER();
        ax = x[to][t];
        ay = y[to][t];
        bx = x[to][t + 512];
        by = y[to][t + 512];
        to ^= 1;
    }
    re[lower] = ax + bx;
    im[lower] = ay + by;
    re[upper] = ax - bx;
    im[upper] = ay - by;
}
