#include "native.h"

#define order(a, b) { uchar t = MIN(a, b); b = MAX(a, b); a = t; }
void run(const uchar *restrict a, uchar *restrict b, int w, int h) {
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++) {
            uchar v[9];
            for (int k = 0; k < 9; k++)
                v[k] = a[(y + k / 3 - 1) * w + x + k % 3 - 1];
            order(v[1], v[2]) order(v[4], v[5]) order(v[7], v[8]) order(v[0], v[1]) order(v[3], v[4]) order(v[6], v[7])
            order(v[1], v[2]) order(v[4], v[5]) order(v[7], v[8]) order(v[0], v[3]) order(v[5], v[8]) order(v[4], v[7])
            order(v[3], v[6]) order(v[1], v[4]) order(v[2], v[5]) order(v[4], v[7]) order(v[4], v[2]) order(v[6], v[4])
            order(v[4], v[2])
            b[y * w + x] = v[4];
        }
}
