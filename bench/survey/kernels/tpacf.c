// Angular correlation: cosines and bins of many pairs in vectors, then counts. A bin is the number of bounds above the
// cosine: a vector compares sixteen pairs with all of them sooner than it looks up a table five times.
#include "native.h"
enum { BINS = 20, BLOCK = 512 };

// Without the first and the last, which no cosine passes.
static const float bounds[BINS - 1] = {
    0.99999995769f, 0.99999986620f, 0.99999957690f, 0.99999866202f, 0.99999576897f, 0.99998662018f, 0.99995768969f,
    0.99986620465f, 0.99957691872f, 0.99866231694f, 0.99577230979f, 0.98665098219f, 0.95796424946f, 0.86879400671f,
    0.60432821f,    0.2f,           -0.2f,          -0.6f,          -0.9f,
};

static void count(const float *restrict xa, const float *restrict ya, const float *restrict za, int na,
                  const float *restrict xb, const float *restrict yb, const float *restrict zb, int nb,
                  ull *restrict histogram, int same) {
    uint counts[4][32] = {0};
    int bin[BLOCK];
    for (int base = 0; base < nb; base += BLOCK) {
        int end = MIN(nb, base + BLOCK);
        for (int i = 0; i < na; i++) {
            int from = same ? MAX(base, i + 1) : base, pairs = end - from;
            float x = xa[i], y = ya[i], z = za[i];
            const float *restrict px = xb + from, *restrict py = yb + from, *restrict pz = zb + from;
#pragma omp simd
            for (int j = 0; j < pairs; j++) {
                float d = x * px[j] + y * py[j] + z * pz[j];
                int above = 0;
#pragma GCC unroll 32
                for (int k = 0; k < BINS - 1; k++)
                    above += d < bounds[k];
                bin[j] = above;
            }
            for (int j = 0; j < pairs; j++)
                counts[j & 3][bin[j]]++;
        }
    }
    for (int k = 0; k < BINS; k++)
        histogram[k] += (ull)counts[0][k] + counts[1][k] + counts[2][k] + counts[3][k];
}

void run(const float *dx, const float *dy, const float *dz, const float *rx, const float *ry, const float *rz, ull *dd,
         ull *dr, ull *rr, int data, int randoms) {
    count(dx, dy, dz, data, dx, dy, dz, data, dd, 1);
    count(dx, dy, dz, data, rx, ry, rz, randoms, dr, 0);
    count(rx, ry, rz, randoms, rx, ry, rz, randoms, rr, 1);
}
