#include "native.h"

static const int8_t table[16][4] = {{-1, -1, -1, -1}, {3, 0, -1, -1}, {0, 1, -1, -1}, {3, 1, -1, -1},
                                    {1, 2, -1, -1},   {3, 0, 1, 2},   {0, 2, -1, -1}, {3, 2, -1, -1},
                                    {2, 3, -1, -1},   {2, 0, -1, -1}, {0, 1, 2, 3},   {2, 1, -1, -1},
                                    {1, 3, -1, -1},   {1, 0, -1, -1}, {0, 3, -1, -1}, {-1, -1, -1, -1}};

static inline void crossing(const float *restrict field, int nx, int x, int y, int edge, float iso, float *to) {
    int ax = x + (edge == 1), ay = y + (edge == 2), bx = x + (edge != 3), by = y + (edge != 0);
    float a = field[(long)ay * nx + ax], b = field[(long)by * nx + bx], t = (iso - a) / (b - a);
    to[0] = ax + t * (bx - ax);
    to[1] = ay + t * (by - ay);
}

// The kinds of a row first, by vectors; segments then go one after the other.
void run(const float *restrict field, float *restrict segments, int *restrict total_count, int nx, int ny, float iso) {
    uchar *kind = malloc(nx);
    long count = 0;
    for (int y = 0; y < ny - 1; y++) {
        const float *a = field + (long)y * nx, *b = a + nx;
#pragma omp simd
        for (int x = 0; x < nx - 1; x++)
            kind[x] = (a[x] > iso) | (a[x + 1] > iso) << 1 | (b[x + 1] > iso) << 2 | (b[x] > iso) << 3;
        for (int x = 0; x < nx - 1; x++) {
            const int8_t *edges = table[kind[x]];
            for (int s = 0; s < 4 && edges[s] >= 0; s += 2, count++) {
                crossing(field, nx, x, y, edges[s], iso, segments + 4 * count);
                crossing(field, nx, x, y, edges[s + 1], iso, segments + 4 * count + 2);
            }
        }
    }
    *total_count = count;
    free(kind);
}
