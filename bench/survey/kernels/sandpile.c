// A sandpile, by rows in vectors; grains are never negative.
#include "native.h"

static int topple(const uint *restrict now, uint *restrict next, const uint *restrict none, int w, int h) {
    uint moved = 0;
    for (int y = 0; y < h; y++) {
        const uint *row = now + y * w, *up = y ? row - w : none, *down = y < h - 1 ? row + w : none;
        uint *restrict to = next + y * w;
        to[0] = row[0] % 4 + up[0] / 4 + down[0] / 4 + (w > 1 ? row[1] / 4 : 0);
        if (w > 1)
            to[w - 1] = row[w - 1] % 4 + up[w - 1] / 4 + down[w - 1] / 4 + row[w - 2] / 4;
#pragma omp simd
        for (int x = 1; x < w - 1; x++)
            to[x] = row[x] % 4 + row[x - 1] / 4 + row[x + 1] / 4 + up[x] / 4 + down[x] / 4;
#pragma omp simd reduction(+ : moved)
        for (int x = 0; x < w; x++)
            moved += row[x] / 4 * 4;
    }
    return moved;
}

void run(uint *restrict a, uint *restrict b, int *restrict toppled, int w, int h, int rounds) {
    uint *none = calloc(w, sizeof(uint));
    for (int r = 0; r < rounds; r++)
        toppled[r] += r % 2 ? topple(b, a, none, w, h) : topple(a, b, none, w, h);
    free(none);
}
