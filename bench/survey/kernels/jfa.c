#include "native.h"

void run(int *restrict a, int *restrict b, int w, int h, int first) {
    int turn = 0;
    for (int step = first; step; step /= 2, turn++) {
        const int *p = turn % 2 ? b : a;
        int *q = turn % 2 ? a : b;
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                int bx = p[2 * (y * w + x)], by = p[2 * (y * w + x) + 1];
                int d = bx < 0 ? 1 << 30 : (bx - x) * (bx - x) + (by - y) * (by - y);
                for (int dy = -step; dy <= step; dy += step)
                    for (int dx = -step; dx <= step; dx += step) {
                        int xx = x + dx, yy = y + dy;
                        if (xx < 0 || yy < 0 || xx >= w || yy >= h)
                            continue;
                        int sx = p[2 * (yy * w + xx)], sy = p[2 * (yy * w + xx) + 1];
                        int e = (sx - x) * (sx - x) + (sy - y) * (sy - y);
                        if (sx >= 0 && e < d) {
                            d = e;
                            bx = sx;
                            by = sy;
                        }
                    }
                q[2 * (y * w + x)] = bx;
                q[2 * (y * w + x) + 1] = by;
            }
    }
}
