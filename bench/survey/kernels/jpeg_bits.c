// How long a grey picture is as JPEG: integer DCT, quantised, in zigzag order, lengths of the Huffman codes.
#include "native.h"

static const uchar zigzag[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};
static const uchar dc_length[12] = {2, 3, 3, 3, 3, 3, 4, 5, 6, 7, 8, 9};
static const uchar ac_length[16][11] = {
    {4, 2, 2, 3, 4, 5, 7, 8, 10, 16, 16},        {0, 4, 5, 7, 9, 11, 16, 16, 16, 16, 16},
    {0, 5, 8, 10, 12, 16, 16, 16, 16, 16, 16},   {0, 6, 9, 12, 16, 16, 16, 16, 16, 16, 16},
    {0, 6, 10, 16, 16, 16, 16, 16, 16, 16, 16},  {0, 7, 11, 16, 16, 16, 16, 16, 16, 16, 16},
    {0, 7, 12, 16, 16, 16, 16, 16, 16, 16, 16},  {0, 8, 12, 16, 16, 16, 16, 16, 16, 16, 16},
    {0, 9, 15, 16, 16, 16, 16, 16, 16, 16, 16},  {0, 9, 16, 16, 16, 16, 16, 16, 16, 16, 16},
    {0, 9, 16, 16, 16, 16, 16, 16, 16, 16, 16},  {0, 10, 16, 16, 16, 16, 16, 16, 16, 16, 16},
    {0, 10, 16, 16, 16, 16, 16, 16, 16, 16, 16}, {0, 11, 16, 16, 16, 16, 16, 16, 16, 16, 16},
    {0, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16}, {11, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16}};

#define DESCALE(x, n) (((x) + (1 << ((n)-1))) >> (n))

// Eight transforms side by side, of the columns of `d`.
static inline void columns(int (*restrict d)[8], int first) {
    int down = first ? 11 : 15;
#pragma omp simd
    for (int c = 0; c < 8; c++) {
        int t0 = d[0][c] + d[7][c], t7 = d[0][c] - d[7][c], t1 = d[1][c] + d[6][c], t6 = d[1][c] - d[6][c];
        int t2 = d[2][c] + d[5][c], t5 = d[2][c] - d[5][c], t3 = d[3][c] + d[4][c], t4 = d[3][c] - d[4][c];
        int e0 = t0 + t3, e3 = t0 - t3, e1 = t1 + t2, e2 = t1 - t2;
        d[0][c] = first ? (e0 + e1) * 4 : DESCALE(e0 + e1, 2);
        d[4][c] = first ? (e0 - e1) * 4 : DESCALE(e0 - e1, 2);
        int z = (e2 + e3) * 4433;
        d[2][c] = DESCALE(z + e3 * 6270, down);
        d[6][c] = DESCALE(z - e2 * 15137, down);
        int z1 = -7373 * (t4 + t7), z2 = -20995 * (t5 + t6), z5 = 9633 * (t4 + t6 + t5 + t7);
        int z3 = z5 - 16069 * (t4 + t6), z4 = z5 - 3196 * (t5 + t7);
        d[7][c] = DESCALE(2446 * t4 + z1 + z3, down);
        d[5][c] = DESCALE(16819 * t5 + z2 + z4, down);
        d[3][c] = DESCALE(25172 * t6 + z2 + z3, down);
        d[1][c] = DESCALE(12299 * t7 + z1 + z4, down);
    }
}

static inline int size_of(int v) {
    return v ? 32 - __builtin_clz(abs(v)) : 0;
}

void run(const uchar *restrict image, const unsigned short *restrict quant, short *restrict coefficients,
         int *restrict bits, uint *restrict row_bits, int w, int h, int across, int squares) {
    for (int s = 0; s < squares; s++) {
        int y0 = s / across * 8, x0 = s % across * 8, d[8][8], turned[8][8], flat[64];
        if (y0 + 8 <= h && x0 + 8 <= w) {
            for (int y = 0; y < 8; y++)
                for (int x = 0; x < 8; x++)
                    d[x][y] = image[(y0 + y) * w + x0 + x] - 128;
        } else {
            for (int y = 0; y < 8; y++)
                for (int x = 0; x < 8; x++)
                    d[x][y] = image[MIN(y0 + y, h - 1) * w + MIN(x0 + x, w - 1)] - 128;
        }
        columns(d, 1);
        for (int y = 0; y < 8; y++)
            for (int x = 0; x < 8; x++)
                turned[y][x] = d[x][y];
        columns(turned, 0);
        for (int i = 0; i < 64; i++) {
            int q = quant[i] * 8, v = turned[i / 8][i % 8], a = (float)(abs(v) + q / 2) / q; // exact: 16 bits
            flat[i] = v < 0 ? -a : a;
        }
        short *c = coefficients + s * 64L;
        for (int i = 0; i < 64; i++)
            c[i] = flat[zigzag[i]];
        int size = size_of(s % across ? c[0] - c[-64] : c[0]), length = dc_length[size] + size, run = 0;
        for (int i = 1; i < 64; i++)
            if (c[i] == 0)
                run++;
            else {
                size = size_of(c[i]);
                length += run / 16 * ac_length[15][0] + ac_length[run % 16][size] + size;
                run = 0;
            }
        if (run)
            length += ac_length[0][0];
        bits[s] = length;
        row_bits[s / across] += length;
    }
}
