#include "native.h"

void run(const uchar *restrict a, const uchar *restrict b, uchar *restrict o, int n) {
    for (int i = 0; i < n; i++) {
        const uchar *p = a + 4 * i, *q = b + 4 * i;
        int k = p[3], m = 255 - k;
        for (int c = 0; c < 3; c++)
            o[4 * i + c] = (p[c] * k + q[c] * m + 127) / 255;
        o[4 * i + 3] = k + q[3] * m / 255;
    }
}
