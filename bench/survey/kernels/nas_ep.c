// Pairs of normal deviates: the generator in integers, eight places of its sequence side by side, and what is in the
// circle is listed for logarithms in vectors.
#include "native.h"

__attribute__((simd("notinbranch"))) extern double log(double);

enum { BLOCK = 128, RINGS = 10, L = 8, CHUNK = 128 };
static const ull MASK = (1ull << 46) - 1;

static ull power(ull a, ull n) {
    ull result = 1;
    for (; n; n >>= 1, a = a * a & MASK)
        if (n & 1)
            result = result * a & MASK;
    return result;
}

void run(double *restrict sx_out, double *restrict sy_out, double *restrict rings, double seed, double a_real,
         int batches, int pairs) {
    ull a = a_real, a_l = power(a, 2 * L), state[L], other[L];
    long counts[RINGS] = {0};
    for (int block = 0; block * BLOCK < batches; block++) {
        long todo = (long)MIN(BLOCK, batches - block * BLOCK) * pairs;
        ull at = (ull)seed * power(a, 2ull * pairs * block * BLOCK) & MASK;
        for (int l = 0; l < L; l++) {
            state[l] = at = at * a & MASK;
            other[l] = at = at * a & MASK;
        }
        double sx = 0, sy = 0;
        for (long first = 0; first < todo; first += L * CHUNK) {
            double x[L * CHUNK], y[L * CHUNK], cx[L * CHUNK], cy[L * CHUNK];
            int ring[L * CHUNK], inside = 0;
            for (int k = 0; k < CHUNK; k++)
#pragma omp simd
                for (int l = 0; l < L; l++) {
                    x[k * L + l] = (long)state[l] * 0x1p-45 - 1;
                    y[k * L + l] = (long)other[l] * 0x1p-45 - 1;
                    state[l] = state[l] * a_l & MASK;
                    other[l] = other[l] * a_l & MASK;
                }
            int n = MIN(L * CHUNK, todo - first);
            for (int i = 0; i < n; i++) {
                cx[inside] = x[i], cy[inside] = y[i];
                inside += x[i] * x[i] + y[i] * y[i] <= 1;
            }
#pragma omp simd reduction(+ : sx, sy)
            for (int i = 0; i < inside; i++) {
                double t = cx[i] * cx[i] + cy[i] * cy[i], f = sqrt(-2 * log(t) / t);
                double g1 = cx[i] * f, g2 = cy[i] * f, b1 = fabs(g1), b2 = fabs(g2);
                ring[i] = b1 > b2 ? b1 : b2;
                sx += g1;
                sy += g2;
            }
            for (int i = 0; i < inside; i++)
                counts[ring[i]]++;
        }
        sx_out[block] = sx;
        sy_out[block] = sy;
    }
    for (int i = 0; i < RINGS; i++)
        rings[i] += counts[i];
}
