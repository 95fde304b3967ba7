#include "native.h"

void run(const uchar *restrict in, uchar *restrict out, int w, int h) {
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            if (x > 0 && x < w - 1 && y > 0 && y < h - 1) {
                int s = 0;
                for (int dy = -1; dy <= 1; dy++)
                    for (int dx = -1; dx <= 1; dx++)
                        s += in[(y + dy) * w + x + dx];
                out[y * w + x] = s / 9;
            } else {
                int s = 0, c = 0;
                for (int dy = -1; dy <= 1; dy++)
                    for (int dx = -1; dx <= 1; dx++) {
                        int xx = x + dx, yy = y + dy;
                        if (xx >= 0 && xx < w && yy >= 0 && yy < h) {
                            s += in[yy * w + xx];
                            c++;
                        }
                    }
                out[y * w + x] = s / c;
            }
        }
}
