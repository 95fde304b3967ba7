#include "native.h"

// Two rows of errors, with a place more on either side.
void run(const uchar *restrict images, uchar *restrict output, int width, int height, int shades, int count) {
    short *rows = malloc(2 * (width + 2) * sizeof *rows);
    int step = 255 / (shades - 1);
    for (int k = 0; k < count; k++) {
        short *now = rows + 1, *below = rows + width + 3;
        memset(rows, 0, 2 * (width + 2) * sizeof *rows);
        for (int y = 0; y < height; y++) {
            const uchar *restrict in = images + ((long)k * height + y) * width;
            uchar *restrict out = output + ((long)k * height + y) * width;
            int ahead = 0;
            for (int x = 0; x < width; x++) {
                int old = in[x] + now[x] + ahead;
                int level = MAX(0, MIN((old + step / 2) / step, shades - 1)), error = old - level * step;
                out[x] = level * step;
                ahead = error * 7 / 16;
                below[x - 1] += error * 3 / 16;
                below[x] += error * 5 / 16;
                below[x + 1] += error / 16;
            }
            short *swap = now;
            now = below, below = swap;
            memset(below - 1, 0, (width + 2) * sizeof *below);
        }
    }
    free(rows);
}
