#include "native.h"

typedef unsigned short ushort;
enum { WIDTH = 14, LARGE = 30000 };

static const int DIRECTIONS[8][2][2] = {{{-1, 1}, {-2, 2}}, {{0, 1}, {-1, 2}}, {{0, 1}, {0, 2}}, {{0, 1}, {1, 2}},
                                        {{1, 1}, {2, 2}},   {{1, 0}, {2, 1}},  {{1, 0}, {2, 0}}, {{1, 0}, {2, -1}}};
static const int DIVISORS[9] = {0, 840, 420, 280, 210, 168, 140, 120, 105};

static inline int constrain(int diff, int threshold, int shift) {
    int a = abs(diff), room = threshold - (a >> shift), c = room < 0 ? 0 : room;
    c = a < c ? a : c;
    return diff < 0 ? -c : c;
}

static inline int log2i(int v) {
    return 31 - __builtin_clz(v);
}

static inline void taps(short tile[WIDTH][WIDTH], int dy, int dx, int tap, int threshold, int shift, int *restrict sum,
                        int *restrict low, int *restrict high) {
    for (int y = 0; y < 8; y++)
#pragma omp simd
        for (int x = 0; x < 8; x++) {
            int c = tile[y + 3][x + 3], p = tile[y + 3 + dy][x + 3 + dx], i = 8 * y + x;
            int there = p != LARGE;
            sum[i] += there ? tap * constrain(p - c, threshold, shift) : 0;
            low[i] = p < low[i] ? p : low[i];
            high[i] = there & (p > high[i]) ? p : high[i];
        }
}

void run(const ushort *restrict source, ushort *restrict target, const uchar *restrict skip,
         const uchar *restrict strengths, uchar *restrict directions, int w, int h, int damping, int depth) {
    int shift = depth - 8, units = w / 8;
    for (int by = 0; by < h / 8; by++)
        for (int bx = 0; bx < units; bx++) {
            int unit = by * units + bx;
            if (skip[unit]) {
                for (int y = 8 * by; y < 8 * by + 8; y++)
                    memcpy(target + y * w + 8 * bx, source + y * w + 8 * bx, 16);
                directions[unit] = 255;
                continue;
            }
            short tile[WIDTH][WIDTH];
            for (int i = 0; i < WIDTH; i++)
                for (int j = 0; j < WIDTH; j++) {
                    int gx = 8 * bx + j - 3, gy = 8 * by + i - 3;
                    tile[i][j] = gx >= 0 && gx < w && gy >= 0 && gy < h ? source[gy * w + gx] : LARGE;
                }
            int p[8][15] = {0}, cost[8] = {0};
            for (int i = 0; i < 8; i++)
                for (int j = 0; j < 8; j++) {
                    int v = (tile[i + 3][j + 3] >> shift) - 128;
                    p[0][i + j] += v;
                    p[1][i + j / 2] += v;
                    p[2][i] += v;
                    p[3][3 + i - j / 2] += v;
                    p[4][7 + i - j] += v;
                    p[5][3 - i / 2 + j] += v;
                    p[6][j] += v;
                    p[7][i / 2 + j] += v;
                }
            for (int i = 0; i < 8; i++) {
                cost[2] += p[2][i] * p[2][i] * 105;
                cost[6] += p[6][i] * p[6][i] * 105;
            }
            for (int d = 0; d < 8; d += 4) {
                for (int i = 0; i < 7; i++)
                    cost[d] += (p[d][i] * p[d][i] + p[d][14 - i] * p[d][14 - i]) * DIVISORS[i + 1];
                cost[d] += p[d][7] * p[d][7] * 105;
            }
            for (int d = 1; d < 8; d += 2) {
                for (int i = 0; i < 5; i++)
                    cost[d] += p[d][3 + i] * p[d][3 + i] * 105;
                for (int i = 0; i < 3; i++)
                    cost[d] += (p[d][i] * p[d][i] + p[d][10 - i] * p[d][10 - i]) * DIVISORS[2 * i + 2];
            }
            int dir = 0;
            for (int d = 1; d < 8; d++)
                if (cost[d] > cost[dir])
                    dir = d;
            directions[unit] = dir;
            int variance = (cost[dir] - cost[(dir + 4) & 7]) >> 16;
            int primary = strengths[2 * unit] << shift, secondary = strengths[2 * unit + 1] << shift;
            int log_variance = variance ? MIN(log2i(variance), 12) : 0;
            primary = variance ? (primary * (4 + log_variance) + 8) >> 4 : 0;
            int odd = (primary >> shift) & 1, damp = damping + shift;
            int shift1 = primary ? damp - log2i(primary) : 0, shift2 = secondary ? damp - log2i(secondary) : 0;
            shift1 = shift1 < 0 ? 0 : shift1;
            shift2 = shift2 < 0 ? 0 : shift2;
            int sum[64] = {0}, low[64], high[64];
            for (int i = 0; i < 64; i++)
                low[i] = high[i] = tile[i / 8 + 3][i % 8 + 3];
            for (int k = 0; k < 2; k++)
                for (int s = -1; s <= 1; s += 2) {
                    const int *d = DIRECTIONS[dir][k];
                    taps(tile, s * d[0], s * d[1], odd ? 3 : k ? 2 : 4, primary, shift1, sum, low, high);
                    for (int side = 2; side <= 6; side += 4) {
                        const int *e = DIRECTIONS[(dir + side) & 7][k];
                        taps(tile, s * e[0], s * e[1], 2 - k, secondary, shift2, sum, low, high);
                    }
                }
            for (int i = 0; i < 64; i++) {
                int v = tile[i / 8 + 3][i % 8 + 3] + ((8 + sum[i] - (sum[i] < 0)) >> 4);
                v = v < low[i] ? low[i] : v > high[i] ? high[i] : v;
                target[(8 * by + i / 8) * w + 8 * bx + i % 8] = v;
            }
        }
}
