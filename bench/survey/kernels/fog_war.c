#include "native.h"

typedef struct {
    short x, y;
    uchar range, team, eye, flying;
} Unit;

void run(const Unit *restrict units, const uchar *restrict heights, uint *restrict seen, uchar *restrict fog,
         int *restrict explored, int w, int h, int count, int teams) {
    int words = (w + 31) / 32;
    for (int u = 0; u < count; u++) {
        Unit unit = units[u];
        uint *bits = seen + unit.team * h * words;
        int r = unit.range, eye = heights[unit.y * w + unit.x] + unit.eye;
        bits[unit.y * words + (unit.x >> 5)] |= 1u << (unit.x & 31);
        for (int k = 0; k < 8 * r; k++) {
            int side = k / (2 * r), along = k % (2 * r) - r;
            int ex = side == 0 ? along : side == 1 ? r : side == 2 ? -along : -r;
            int ey = side == 0 ? -r : side == 1 ? along : side == 2 ? r : -along;
            int dx = abs(ex), dy = abs(ey), sx = ex < 0 ? -1 : 1, sy = ey < 0 ? -1 : 1;
            int error = dx - dy, x = 0, y = 0, steepest = -100000;
            for (int steps = 1;; steps++) {
                int twice = 2 * error, go = twice > -dy, down = twice < dx;
                error += (down ? dx : 0) - (go ? dy : 0);
                x += go ? sx : 0;
                y += down ? sy : 0;
                int mx = unit.x + x, my = unit.y + y;
                if (x * x + y * y > r * r || mx < 0 || my < 0 || mx >= w || my >= h)
                    break;
                int slope = (heights[my * w + mx] - eye) * 256 / steps;
                if (unit.flying || slope >= steepest) {
                    bits[my * words + (mx >> 5)] |= 1u << (mx & 31);
                    steepest = MAX(steepest, slope);
                }
            }
        }
    }
    for (int t = 0; t < teams; t++) {
        int fresh = 0;
        for (int y = 0; y < h; y++) {
            const uint *bits = seen + (t * h + y) * words;
            uchar *row = fog + (t * h + y) * w;
#pragma omp simd reduction(+ : fresh)
            for (int x = 0; x < w; x++) {
                int looked = bits[x >> 5] >> (x & 31) & 1, c = row[x];
                fresh += looked & (c == 0);
                row[x] = looked ? 255 : c > 96 ? MAX(96, c - 32) : c;
            }
        }
        explored[t] += fresh;
    }
}
