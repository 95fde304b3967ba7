#include "native.h"

#define LOOK(d) least = MIN(least, colour[i + (d)] == c ? label[i + (d)] : least)

void run(const int *restrict colour, const int *restrict label, int *restrict next, int w, int h) {
    for (int y = 0; y < h; y++) {
        int up = y > 0 ? -w : 0, down = y < h - 1 ? w : 0;
#pragma omp simd
        for (int x = 1; x < w - 1; x++) {
            int i = y * w + x, c = colour[i], least = label[i];
            LOOK(-1);
            LOOK(1);
            LOOK(up);
            LOOK(down);
            next[i] = least;
        }
        for (int x = 0; x < w; x += MAX(1, w - 1)) {
            int i = y * w + x, c = colour[i], least = label[i];
            LOOK(x > 0 ? -1 : 0);
            LOOK(x < w - 1 ? 1 : 0);
            LOOK(up);
            LOOK(down);
            next[i] = least;
        }
    }
}
