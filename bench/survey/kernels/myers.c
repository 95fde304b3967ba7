#include "native.h"

static inline __attribute__((always_inline)) void align(int W, const uint *restrict read, const uint *restrict text,
                                                        int length, int text_length, int *restrict result) {
    ull peq[4][3] = {{0}}, plus[3] = {~0ull, ~0ull, ~0ull}, minus[3] = {0};
    for (int i = 0; i < length; i++)
        peq[read[i >> 4] >> 2 * (i & 15) & 3][i >> 6] |= 1ull << (i & 63);
    int score = length, best = length, end = -1, last_bit = (length - 1) & 63;
    for (int j = 0; j < text_length; j++) {
        const ull *match = peq[text[j >> 4] >> 2 * (j & 15) & 3];
        ull up = 0, down = 0, ph = 0, mh = 0;
#pragma GCC unroll 3
        for (int w = 0; w < W; w++) {
            ull eq = match[w], pv = plus[w], xv = eq | minus[w];
            eq |= down;
            ull xh = (((eq & pv) + pv) ^ pv) | eq;
            ph = minus[w] | ~(xh | pv);
            mh = pv & xh;
            ull ps = ph << 1 | up, ms = mh << 1 | down;
            up = ph >> 63;
            down = mh >> 63;
            plus[w] = ms | ~(xv | ps);
            minus[w] = ps & xv;
        }
        score += (int)(ph >> last_bit & 1) - (int)(mh >> last_bit & 1);
        if (score < best) {
            best = score;
            end = j;
        }
    }
    result[0] = best;
    result[1] = end;
}

void run(const uint *restrict reads, const int *restrict lengths, const uint *restrict windows, int *restrict result,
         int pairs, int text_length) {
    for (int id = 0; id < pairs; id++) {
        const uint *read = reads + 12 * (size_t)id, *text = windows + (size_t)id * ((text_length + 63) / 64) * 4;
        int length = lengths[id], *to = result + 2 * id;
        if (length <= 0) {
            to[0] = 0;
            to[1] = -1;
        } else if (length <= 64)
            align(1, read, text, length, text_length, to);
        else if (length <= 128)
            align(2, read, text, length, text_length, to);
        else
            align(3, read, text, length, text_length, to);
    }
}
