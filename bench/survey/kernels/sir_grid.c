// An epidemic on a torus: the ill of three rows added up, chances as whole numbers in a table.
#include "native.h"

static void step(const signed char *restrict now, signed char *restrict next, uint *restrict seeds,
                 int *restrict count, uchar *restrict columns, const int *restrict limit, int w, int h,
                 int days_ill) {
    int healthy = 0, ill = 0;
    for (int y = 0; y < h; y++) {
        const signed char *row = now + y * w, *up = now + (y ? y - 1 : h - 1) * w;
        const signed char *down = now + (y < h - 1 ? y + 1 : 0) * w;
#pragma omp simd
        for (int x = 0; x < w; x++)
            columns[x + 1] = (up[x] > 0) + (row[x] > 0) + (down[x] > 0);
        columns[0] = columns[w], columns[w + 1] = columns[1];
        signed char *restrict to = next + y * w;
        uint *restrict seed = seeds + y * w;
#pragma omp simd reduction(+ : healthy, ill)
        for (int x = 0; x < w; x++) {
            int near = columns[x] + columns[x + 1] + columns[x + 2], s = row[x];
            seed[x] = seed[x] * 1664525u + 1013904223u;
            int later = s == 1 ? -1 : s - (s > 0), chance = seed[x] >> 8, falls = chance < limit[near];
            int state = s == 0 ? -falls & days_ill : later;
            to[x] = state;
            healthy += state == 0, ill += state > 0;
        }
    }
    count[0] += healthy, count[1] += ill, count[2] += w * h - healthy - ill;
}

void run(signed char *restrict a, signed char *restrict b, uint *restrict seeds, int *restrict counts, int w, int h,
         double beta, int days_ill, int days) {
    uchar *columns = malloc(w + 2);
    int limit[10] = {0};
    for (int k = 1; k < 10; k++)
        limit[k] = ceil((1 - pow(1 - beta, k)) * 16777216);
    for (int d = 0; d < days; d++)
        step(d % 2 ? b : a, d % 2 ? a : b, seeds, counts + 3 * d, columns, limit, w, h, days_ill);
    free(columns);
}
