#include "native.h"

void run(const float *restrict windows, float *restrict picture, int planes, int w, int h, int size, int border,
         int step, int across, int down) {
    memset(picture, 0, 4 * planes * w * h);
    for (int p = 0; p < planes; p++)
        for (int j = 0; j < size; j++)
            for (int i = 0; i < size; i++)
                for (int v = 0; v < down; v++) {
                    int y = v * step - border + j;
                    if (y < 0 || y >= h)
                        continue;
                    for (int u = 0; u < across; u++) {
                        int x = u * step - border + i;
                        if (x >= 0 && x < w)
                            picture[(p * h + y) * w + x] += windows[(((p * size + j) * size + i) * down + v) * across + u];
                    }
                }
}
