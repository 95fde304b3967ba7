#include "native.h"

void run(const uchar *restrict in, uchar *restrict out, int w, int h, int size) {
    int *sums = malloc(w * sizeof(int));
    for (int y = 0; y < h; y++) {
        int first = MAX(0, y - size), last = MIN(h - 1, y + size);
        memset(sums, 0, w * sizeof(int));
        for (int r = first; r <= last; r++)
            for (int d = -size; d <= size; d++) {
                const uchar *i = in + r * w + d;
#pragma omp simd
                for (int x = MAX(0, -d); x < MIN(w, w - d); x++)
                    sums[x] += i[x];
            }
        for (int x = 0; x < w; x++)
            out[y * w + x] = sums[x] / ((last - first + 1) * (MIN(w - 1, x + size) - MAX(0, x - size) + 1));
    }
    free(sums);
}
