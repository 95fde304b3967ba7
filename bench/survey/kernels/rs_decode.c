// Decodes words of Reed-Solomon (255, 223): products by powers of alpha from tables of them.
#include "native.h"
enum { LENGTH = 255, PARITY = 32, MOST = PARITY / 2 };

static uchar exponent[512], logarithm[256], times[PARITY][256];

static void make_tables(void) {
    int x = 1;
    for (int i = 0; i < LENGTH; i++) {
        exponent[i] = exponent[i + LENGTH] = x;
        logarithm[x] = i;
        x = x << 1 ^ (x & 0x80 ? 0x11d : 0);
    }
    for (int j = 0; j < PARITY; j++)
        for (int a = 1; a < 256; a++)
            times[j][a] = exponent[logarithm[a] + j];
}

static inline uchar multiply(uchar a, uchar b) {
    return a && b ? exponent[logarithm[a] + logarithm[b]] : 0;
}

static int berlekamp_massey(const uchar *restrict syndromes, uchar *restrict lambda) {
    uchar previous[PARITY + 1] = {1}, saved[PARITY + 1], gap_before = 1;
    int degree = 0, since = 1;
    memset(lambda, 0, PARITY + 1);
    lambda[0] = 1;
    for (int step = 0; step < PARITY; step++) {
        uchar gap = syndromes[step];
        for (int i = 1; i <= degree; i++)
            gap ^= multiply(lambda[i], syndromes[step - i]);
        if (!gap) {
            since++;
            continue;
        }
        int factor = logarithm[gap] + LENGTH - logarithm[gap_before], longer = 2 * degree <= step;
        factor -= factor >= LENGTH ? LENGTH : 0;
        if (longer)
            memcpy(saved, lambda, sizeof saved);
        for (int i = since; i <= PARITY; i++)
            if (previous[i - since])
                lambda[i] ^= exponent[logarithm[previous[i - since]] + factor];
        if (longer) {
            memcpy(previous, saved, sizeof saved);
            degree = step + 1 - degree;
            gap_before = gap;
            since = 1;
        } else
            since++;
    }
    return degree;
}

void run(uchar *restrict words, signed char *restrict status, int *restrict corrected, int n) {
    make_tables();
    int all = 0;
    for (int id = 0; id < n; id++) {
        uchar *word = words + (long)id * LENGTH, s[PARITY] = {0}, lambda[PARITY + 1], any = 0;
        for (int i = 0; i < LENGTH; i++)
            for (int j = 0; j < PARITY; j++)
                s[j] = times[j][s[j]] ^ word[i];
        for (int j = 0; j < PARITY; j++)
            any |= s[j];
        if (!any) {
            status[id] = 0;
            continue;
        }
        int errors = berlekamp_massey(s, lambda), places[MOST], found = 0;
        status[id] = -1;
        if (errors > MOST)
            continue;
        uchar sums[LENGTH];
        memset(sums, 1, sizeof sums);
        for (int i = 1; i <= errors; i++)
            if (lambda[i])
                for (int power = 0, at = logarithm[lambda[i]]; power < LENGTH; power++) {
                    sums[power] ^= exponent[at];
                    at -= i;
                    at += at < 0 ? LENGTH : 0;
                }
        for (int power = 0; power < LENGTH && found < errors; power++)
            if (!sums[power])
                places[found++] = power;
        if (found != errors)
            continue;
        uchar omega[MOST];
        for (int i = 0; i < errors; i++) {
            omega[i] = s[i];
            for (int j = 1; j <= i; j++)
                omega[i] ^= multiply(lambda[j], s[i - j]);
        }
        for (int k = 0; k < errors; k++) {
            uchar x = exponent[LENGTH - places[k]], x2 = multiply(x, x), above = 0, below = 0;
            for (int i = errors - 1; i >= 0; i--)
                above = multiply(above, x) ^ omega[i];
            for (int i = (errors - 1) | 1; i >= 1; i -= 2)
                below = multiply(below, x2) ^ (i <= errors ? lambda[i] : 0);
            if (above) {
                int log = logarithm[above] + LENGTH - logarithm[below] + places[k];
                word[LENGTH - 1 - places[k]] ^= exponent[log % LENGTH];
            }
        }
        status[id] = errors;
        all += errors;
    }
    *corrected += all;
}
