// Knight's tours by Warnsdorff's rule: squares are bits.
#include "native.h"

typedef struct {
    signed char cell[64];
    int filled;
} Board;

void run(Board *restrict boards, uchar *restrict closed, int *restrict tours, int attempts, uint seed) {
    static const signed char dx[8] = {1, 2, 2, 1, -1, -2, -2, -1}, dy[8] = {2, 1, -1, -2, -2, -1, 1, 2};
    ull reach[64] = {0};
    signed char to[64][8];
    for (int s = 0; s < 64; s++)
        for (int k = 0; k < 8; k++) {
            int x = s % 8 + dx[k], y = s / 8 + dy[k], in = x >= 0 && x < 8 && y >= 0 && y < 8;
            to[s][k] = in ? y * 8 + x : -1;
            reach[s] |= in ? 1ull << (y * 8 + x) : 0;
        }
    for (int id = 0; id < attempts; id++) {
        Board *b = boards + id;
        uint random = seed + id * 2654435761u;
        int order[8] = {0, 1, 2, 3, 4, 5, 6, 7}, first = id % 64, at = first;
        for (int k = 7; k > 0; k--) {
            random = random * 1664525u + 1013904223u;
            int other = (random >> 16) % (k + 1), t = order[k];
            order[k] = order[other], order[other] = t;
        }
        memset(b->cell, -1, 64);
        b->filled = 0;
        ull open = ~0ull;
        for (;;) {
            b->cell[at] = b->filled++;
            open &= ~(1ull << at);
            int best = 9, next = -1;
            for (int i = 0; i < 8; i++) {
                int square = to[at][order[i]];
                if (square < 0 || !(open >> square & 1))
                    continue;
                int degree = __builtin_popcountll(reach[square] & open);
                if (degree < best)
                    best = degree, next = square;
            }
            if (next < 0)
                break;
            at = next;
        }
        closed[id] = b->filled == 64 && reach[at] >> first & 1;
        if (b->filled == 64)
            tours[closed[id]]++;
    }
}
