#include "native.h"
enum { QUERY = 96, LETTERS = 24, W = 32 };  // W sequences side by side; nothing comes near the borders of 16 bits

typedef short Lanes __attribute__((vector_size(2 * W)));

static inline Lanes larger(Lanes a, Lanes b) {
    Lanes more = a > b;
    return (a & more) | (b & ~more);
}

void run(const signed char *restrict matrix, const uchar *restrict query, const uchar *restrict database,
         const int *restrict spans, short *restrict scores, int query_length, int pairs, int open, int extend) {
    short columns[LETTERS][LETTERS];  // by the letter of the database first
    for (int a = 0; a < LETTERS; a++)
        for (int b = 0; b < LETTERS; b++)
            columns[b][a] = matrix[a * LETTERS + b];
    for (int first = 0; first < pairs; first += W / 2) {
        int lanes = MIN(W / 2, pairs - first), longest = 0;
        Lanes h[QUERY], e[QUERY], best = {0}, zero = {0}, least = zero - 15000;
        for (int l = 0; l < lanes; l++)
            longest = MAX(longest, spans[2 * (first + l) + 1]);
        for (int i = 0; i < query_length; i++) {
            h[i] = zero;
            e[i] = least;
        }
        for (int j = 0; j < longest; j++) {
            short column[LETTERS][W];
            for (int l = 0; l < W; l++) {
                int pair = first + l / 2, ours = l / 2 < lanes && j < spans[2 * pair + 1];
                const short *from = columns[ours ? database[2 * (spans[2 * pair] + j) + l % 2] : LETTERS - 1];
                for (int a = 0; a < LETTERS; a++)
                    column[a][l] = from[a];
            }
            Lanes diagonal = zero, above = zero, f = least;
            for (int i = 0; i < query_length; i++) {
                Lanes score;
                memcpy(&score, column[query[i]], sizeof score);
                Lanes ev = larger(e[i] - (short)extend, h[i] - (short)open);
                f = larger(f - (short)extend, above - (short)open);
                above = larger(larger(diagonal + score, zero), larger(ev, f));
                best = larger(best, above);
                diagonal = h[i];
                h[i] = above;
                e[i] = ev;
            }
        }
        memcpy(scores + 2 * first, &best, 2 * lanes * sizeof(short));
    }
}
