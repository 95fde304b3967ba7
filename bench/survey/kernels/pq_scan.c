// Nearest neighbours among vectors of 16 bytes (product quantizer): a table of distances, then a sorted list.
#include "native.h"
enum { PARTS = 16, CENTRES = 256, BEST = 16 };

void run(const float *restrict queries, const float *restrict books, const uchar *restrict codes,
         float *restrict distance, int *restrict id, int n, int count) {
    float table[PARTS][CENTRES];
    for (int q = 0; q < count; q++) {
        for (int p = 0; p < PARTS; p++) {
            const float *x = queries + (q * PARTS + p) * 4;
            for (int c = 0; c < CENTRES; c++) {
                const float *y = books + (p * CENTRES + c) * 4;
                float sum = 0;
                for (int k = 0; k < 4; k++)
                    sum += (x[k] - y[k]) * (x[k] - y[k]);
                table[p][c] = sum;
            }
        }
        float *best = distance + q * BEST;
        int *which = id + q * BEST;
        for (int k = 0; k < BEST; k++) {
            best[k] = INFINITY;
            which[k] = -1;
        }
        for (int i = 0; i < n; i++) {
            const uchar *code = codes + (size_t)i * PARTS;
            float sum = 0;
            for (int p = 0; p < PARTS; p++)
                sum += table[p][code[p]];
            if (sum >= best[BEST - 1])
                continue;
            int at = BEST - 1;
            for (; at > 0 && best[at - 1] > sum; at--) {
                best[at] = best[at - 1];
                which[at] = which[at - 1];
            }
            best[at] = sum;
            which[at] = i;
        }
    }
}
