// A video encoder's motion search over all places up to 7 away, for 16 x 16 pixels and their quarters.
#include "native.h"

enum { MB = 16, R = 7, SIDE = MB + 2 * R, STRIDE = 32 };

// Of eight rows the left eight columns and the right ones, by sums of 16 bits side by side.
static inline void sad_rows(const uchar *restrict a, const uchar *restrict b, uint *restrict result) {
    unsigned short column[MB] = {0};
    for (int y = 0; y < 8; y++)
#pragma omp simd
        for (int x = 0; x < MB; x++) {
            uchar p = a[y * MB + x], q = b[y * STRIDE + x];
            column[x] += MAX(p, q) - MIN(p, q);
        }
    uint left = 0, right = 0;
    for (int x = 0; x < 8; x++)
        left += column[x], right += column[x + 8];
    result[0] = left, result[1] = right;
}

void run(const uchar *restrict current, const uchar *restrict reference, short *restrict vectors,
         uint *restrict costs, int w, int h, int lambda) {
    int across = (w + MB - 1) / MB, down = (h + MB - 1) / MB;
    for (int block = 0; block < across * down; block++) {
        int x0 = block % across * MB, y0 = block / across * MB;
        uchar own[MB * MB], window[SIDE * STRIDE];
        for (int y = 0; y < MB; y++)
            for (int x = 0; x < MB; x++)
                own[y * MB + x] = current[MIN(y0 + y, h - 1) * w + MIN(x0 + x, w - 1)];
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                window[y * STRIDE + x] =
                    reference[MIN(MAX(y0 + y - R, 0), h - 1) * w + MIN(MAX(x0 + x - R, 0), w - 1)];
        uint best[5] = {~0u, ~0u, ~0u, ~0u, ~0u};
        for (int dy = -R; dy <= R; dy++)
            for (int dx = -R; dx <= R; dx++) {
                const uchar *at = window + (dy + R) * STRIDE + dx + R;
                uint s[5];
                sad_rows(own, at, s + 1);
                sad_rows(own + 8 * MB, at + 8 * STRIDE, s + 3);
                s[0] = s[1] + s[2] + s[3] + s[4];
                uint bits = lambda * (abs(dx) + abs(dy)), place = (dy + R) * MB + dx + R;
                for (int p = 0; p < 5; p++)
                    best[p] = MIN(best[p], (s[p] + bits) << 8 | place);
            }
        for (int p = 0; p < 5; p++) {
            int winner = best[p] & 255;
            vectors[(block * 5 + p) * 2] = winner % MB - R;
            vectors[(block * 5 + p) * 2 + 1] = winner / MB - R;
            costs[block * 5 + p] = best[p] >> 8;
        }
    }
}
