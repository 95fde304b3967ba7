// Seam carving by dynamic programming, rows in vectors.
#include "native.h"

void run(uchar *restrict image, int *restrict energy, int *restrict cost, int *restrict seams, int width, int h,
         int count) {
    for (int s = 0; s < count; s++) {
        int w = width - s;
        for (int y = 0; y < h; y++) {
            const uchar *row = image + y * width, *up = image + (y ? y - 1 : h - 1) * width;
            const uchar *down = image + (y < h - 1 ? y + 1 : 0) * width;
            int *restrict e = energy + y * width;
            e[0] = abs(row[1] - row[w - 1]) + abs(down[0] - up[0]);
#pragma omp simd
            for (int x = 1; x < w - 1; x++)
                e[x] = abs(row[x + 1] - row[x - 1]) + abs(down[x] - up[x]);
            e[w - 1] = abs(row[0] - row[w - 2]) + abs(down[w - 1] - up[w - 1]);
        }
        memcpy(cost, energy, w * sizeof(int));
        for (int y = 1; y < h; y++) {
            const int *restrict above = cost + (y - 1) * width, *restrict e = energy + y * width;
            int *restrict to = cost + y * width;
            to[0] = e[0] + MIN(above[0], above[1]);
#pragma omp simd
            for (int x = 1; x < w - 1; x++) {
                int best = MIN(above[x - 1], above[x]);
                to[x] = e[x] + MIN(best, above[x + 1]);
            }
            to[w - 1] = e[w - 1] + MIN(above[w - 2], above[w - 1]);
        }
        int *restrict seam = seams + s * h, x = 0;
        const int *last = cost + (h - 1) * width;
        for (int i = 1; i < w; i++)
            x = last[i] < last[x] ? i : x;
        seam[h - 1] = x;
        for (int y = h - 2; y >= 0; y--) {
            const int *row = cost + y * width;
            int best = x;
            if (x > 0 && row[x - 1] < row[best])
                best = x - 1;
            if (x < w - 1 && row[x + 1] < row[best])
                best = x + 1;
            seam[y] = x = best;
        }
        for (int y = 0; y < h; y++) {
            uchar *at = image + y * width + seam[y];
            memmove(at, at + 1, w - 1 - seam[y]);
        }
    }
}
