#include "native.h"

#define ORDER(a, b)                                                                                                    \
    do {                                                                                                               \
        uchar low_ = MIN(a, b);                                                                                        \
        b = MAX(a, b);                                                                                                 \
        a = low_;                                                                                                      \
    } while (0)

void run(const uchar *restrict in, uchar *restrict out, uint *restrict totals, int words, int height, int threshold) {
    int w = 4 * words;
    uchar *rows = malloc(3 * (w + 2));  // each with a pixel more at both ends
    for (int y = 0; y < height; y++) {
        for (int k = 0; k < 3; k++) {
            const uchar *from = in + (size_t)MIN(MAX(y + k - 1, 0), height - 1) * w;
            uchar *to = rows + k * (w + 2);
            memcpy(to + 1, from, w);
            to[0] = from[0];
            to[w + 1] = from[w - 1];
        }
        const uchar *restrict p = rows, *restrict q = rows + w + 2, *restrict r = rows + 2 * (w + 2);
        uchar *restrict to = out + (size_t)y * w;
        uint replaced = 0, changed = 0;
#pragma omp simd
        for (int x = 0; x < w; x++) {
            uchar a0 = p[x], a1 = p[x + 1], a2 = p[x + 2], b0 = q[x], b1 = q[x + 1], b2 = q[x + 2], c0 = r[x],
                  c1 = r[x + 1], c2 = r[x + 2];
            ORDER(a0, a1);
            ORDER(b0, b1);
            ORDER(c0, c1);
            ORDER(a1, a2);
            ORDER(b1, b2);
            ORDER(c1, c2);
            ORDER(a0, a1);
            ORDER(b0, b1);
            ORDER(c0, c1);
            uchar low = MAX(MAX(a0, b0), c0), high = MIN(MIN(a2, b2), c2);
            ORDER(a1, b1);
            uchar least = MIN(b1, c1), middle = MAX(a1, least);
            ORDER(low, middle);
            uchar less = MIN(middle, high), median = MAX(low, less), own = q[x + 1];
            uchar apart = MAX(own, median) - MIN(own, median);
            to[x] = apart > threshold ? median : own;
        }
#pragma omp simd reduction(+ : replaced, changed)
        for (int x = 0; x < w; x++) {
            uchar own = q[x + 1], made = to[x], apart = MAX(own, made) - MIN(own, made);
            replaced += apart != 0;  // what is replaced differs by more than the threshold
            changed += apart;
        }
        totals[0] += replaced;
        totals[1] += changed;
    }
    free(rows);
}
