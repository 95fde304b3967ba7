// A lane is one of sixteen transforms, so that every step is whole registers.
#include "native.h"

static REAL x[1024][LANES] __attribute__((aligned(64))), y[1024][LANES] __attribute__((aligned(64)));

static void step(int half, const REAL *restrict cosines, const REAL *restrict sines)
{
    for (int start = 0; start < 1024; start += 2 * half)
        for (int k = 0; k < half; k++) {
            int a = start + k, b = a + half, turn = k * (512 / half);
            REAL c = cosines[turn], s = sines[turn];
            vec bx = LOAD(x[b]), by = LOAD(y[b]), ax = LOAD(x[a]), ay = LOAD(y[a]);
            vec u = bx * c + by * s, v = by * c - bx * s;
            STORE(x[a], ax + u);
            STORE(y[a], ay + v);
            STORE(x[b], ax - u);
            STORE(y[b], ay - v);
        }
}

void run(REAL *restrict re, REAL *restrict im, const REAL *restrict cosines, const REAL *restrict sines, int batch)
{
    static int from[1024];
    for (int i = 0; i < 1024; i++)
        from[i] = from[i >> 1] >> 1 | (i & 1) << 9;
    for (int first = 0; first < batch; first += LANES) {
        REAL *xs = re + first * 1024, *ys = im + first * 1024;
        for (int i = 0; i < 1024; i++)
            for (int l = 0; l < LANES; l++) {
                x[i][l] = xs[l * 1024 + from[i]];
                y[i][l] = ys[l * 1024 + from[i]];
            }
        for (int half = 1; half < 1024; half <<= 1)
            step(half, cosines, sines);
        for (int l = 0; l < LANES; l++)
            for (int i = 0; i < 1024; i++) {
                xs[l * 1024 + i] = x[i][l];
                ys[l * 1024 + i] = y[i][l];
            }
    }
}
