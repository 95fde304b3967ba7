#include "native.h"
enum { QUERY = 96, LETTERS = 24, W = 32 };  // W sequences side by side

static inline short add(short a, short b) {  // nothing here comes near the borders of 16 bits
    return a + b;
}

void run(const signed char *restrict matrix, const uchar *restrict query, const uchar *restrict database,
         const int *restrict spans, short *restrict scores, int query_length, int pairs, int open, int extend) {
    for (int first = 0; first < pairs; first += W / 2) {
        int lanes = MIN(W / 2, pairs - first), longest = 0;
        short h[QUERY][W], e[QUERY][W], best[W] = {0};
        for (int l = 0; l < lanes; l++)
            longest = MAX(longest, spans[2 * (first + l) + 1]);
        memset(h, 0, sizeof h);
        for (int i = 0; i < query_length; i++)
            for (int l = 0; l < W; l++)
                e[i][l] = -15000;
        for (int j = 0; j < longest; j++) {
            short column[LETTERS][W], diagonal[W] = {0}, above[W] = {0}, f[W];
            uchar letter[W];
            for (int l = 0; l < W; l++) {
                int pair = first + l / 2;
                letter[l] = l / 2 < lanes && j < spans[2 * pair + 1] ? database[2 * (spans[2 * pair] + j) + l % 2]
                                                                     : LETTERS - 1;
                f[l] = -15000;
            }
            for (int a = 0; a < LETTERS; a++)  // the scores of this column's letters against each
                for (int l = 0; l < W; l++)
                    column[a][l] = matrix[a * LETTERS + letter[l]];
            for (int i = 0; i < query_length; i++) {
                const short *score = column[query[i]];
#pragma omp simd
                for (int l = 0; l < W; l++) {
                    short left = add(h[i][l], -open), before = add(e[i][l], -extend);
                    short up = add(above[l], -open), over = add(f[l], -extend);
                    short ev = MAX(before, left), fv = MAX(over, up), now = MAX(add(diagonal[l], score[l]), 0);
                    now = MAX(now, MAX(ev, fv));
                    best[l] = MAX(best[l], now);
                    diagonal[l] = h[i][l];
                    h[i][l] = above[l] = now;
                    e[i][l] = ev;
                    f[l] = fv;
                }
            }
        }
        memcpy(scores + 2 * first, best, 2 * lanes * sizeof(short));
    }
}
