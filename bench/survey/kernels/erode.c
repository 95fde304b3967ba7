#include "native.h"

void run(const uchar *restrict in, uchar *restrict out, int w, int h, int radius) {
    for (int y = 0; y < h; y++) {
        uchar *o = out + y * w;
        memset(o, 255, w);
        for (int ny = MAX(y - radius, 0); ny <= MIN(y + radius, h - 1); ny++)
            for (int dx = -radius; dx <= radius; dx++) {
                const uchar *i = in + ny * w + dx;
#pragma omp simd
                for (int x = MAX(0, -dx); x < MIN(w, w - dx); x++)
                    o[x] = MIN(o[x], i[x]);
            }
    }
}
