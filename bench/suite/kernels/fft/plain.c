#include "native.h"

static void transform(REAL *restrict re, REAL *restrict im, const REAL *restrict cosines, const REAL *restrict sines)
{
    for (int i = 0, j = 0; i < 1024; i++) {
        if (i < j) {
            REAL x = re[i], y = im[i];
            re[i] = re[j], im[i] = im[j];
            re[j] = x, im[j] = y;
        }
        int bit = 512;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j |= bit;
    }
    for (int half = 1; half < 1024; half <<= 1)
        for (int start = 0; start < 1024; start += 2 * half)
            for (int k = 0; k < half; k++) {
                int a = start + k, b = a + half, turn = k * (512 / half);
                REAL c = cosines[turn], s = sines[turn];
                REAL u = re[b] * c + im[b] * s, v = im[b] * c - re[b] * s;
                REAL ax = re[a], ay = im[a];
                re[a] = ax + u;
                im[a] = ay + v;
                re[b] = ax - u;
                im[b] = ay - v;
            }
}

void run(REAL *restrict re, REAL *restrict im, const REAL *restrict cosines, const REAL *restrict sines, int batch)
{
    for (int i = 0; i < batch; i++)
        transform(re + i * 1024, im + i * 1024, cosines, sines);
}
