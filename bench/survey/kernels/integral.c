#include "native.h"

void run(const uchar *restrict in, int *restrict out, int w, int h) {
    for (int y = 0; y < h; y++) {
        int sum = 0;
        for (int x = 0; x < w; x++) {
            sum += in[y * w + x];
            out[y * w + x] = sum;
        }
        if (y)
            for (int x = 0; x < w; x++)
                out[y * w + x] += out[(y - 1) * w + x];
    }
}
