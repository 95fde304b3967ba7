#include "native.h"

// The same tiles and rounds, with Gauss-Seidel inside of a tile: the fixed point is one.
enum { TILE = 16, S = TILE + 2, INF = 0x3fffffff };

static int relax(const uchar *restrict terrain, int *restrict cost, int w, int h, int bx, int by) {
    int x0 = bx * TILE, y0 = by * TILE, x1 = MIN(w, x0 + TILE), y1 = MIN(h, y0 + TILE);
    int tile[S][S], any = 0;
    for (int ly = 0; ly < S; ly++)
        for (int lx = 0; lx < S; lx++) {
            int gx = x0 + lx - 1, gy = y0 + ly - 1;
            tile[ly][lx] = gx >= 0 && gx < w && gy >= 0 && gy < h ? cost[gy * w + gx] : INF;
        }
    for (int back = 0, idle = 0; idle < 2; back ^= 1) {
        int changed = 0;
        for (int a = 0; a < y1 - y0; a++) {
            int y = back ? y1 - y0 - 1 - a : a;
            for (int b = 0; b < x1 - x0; b++) {
                int x = back ? x1 - x0 - 1 - b : b, step = terrain[(y0 + y) * w + x0 + x];
                if (step == 255)
                    continue;
                int *t = &tile[y + 1][x + 1];
                int straight = MIN(MIN(t[-1], t[1]), MIN(t[-S], t[S]));
                int slant = MIN(MIN(t[-S - 1], t[-S + 1]), MIN(t[S - 1], t[S + 1]));
                int next = MIN(straight + 10 * step, slant + 14 * step);
                if (next < *t) {
                    *t = next;
                    changed = 1;
                }
            }
        }
        any |= changed;
        idle = changed ? 0 : idle + 1;
    }
    if (any)
        for (int y = y0; y < y1; y++)
            for (int x = x0; x < x1; x++)
                cost[y * w + x] = tile[y - y0 + 1][x - x0 + 1];
    return any;
}

void run(const uchar *restrict terrain, int *restrict cost, uchar *restrict awake, uchar *restrict awake_next,
         signed char *restrict direction, int w, int h) {
    int tw = (w + TILE - 1) / TILE, th = (h + TILE - 1) / TILE;
    for (int busy = 1; busy;) {
        busy = 0;
        memset(awake_next, 0, tw * th);
        for (int by = 0; by < th; by++)
            for (int bx = 0; bx < tw; bx++)
                if (awake[by * tw + bx] && relax(terrain, cost, w, h, bx, by)) {
                    busy = 1;
                    for (int ny = by - (by > 0); ny <= MIN(by + 1, th - 1); ny++)
                        for (int nx = bx - (bx > 0); nx <= MIN(bx + 1, tw - 1); nx++)
                            awake_next[ny * tw + nx] = 1;
                }
        memcpy(awake, awake_next, tw * th);
    }
    static const int DX[8] = {1, 1, 0, -1, -1, -1, 0, 1}, DY[8] = {0, 1, 1, 1, 0, -1, -1, -1};
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int best = cost[y * w + x], way = -1;
            if (best < INF)
                for (int k = 0; k < 8; k++) {
                    int nx = x + DX[k], ny = y + DY[k];
                    if (nx < 0 || ny < 0 || nx >= w || ny >= h)
                        continue;
                    if ((k & 1) && (cost[y * w + nx] >= INF || cost[ny * w + x] >= INF))
                        continue;
                    if (cost[ny * w + nx] < best) {
                        best = cost[ny * w + nx];
                        way = k;
                    }
                }
            direction[y * w + x] = way;
        }
}
