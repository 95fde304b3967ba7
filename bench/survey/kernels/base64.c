#include "native.h"

void run(const uchar *restrict a, uchar *restrict o, const uchar *restrict table, int n) {
    for (int i = 0; i < n; i++) {
        int v = a[3 * i] << 16 | a[3 * i + 1] << 8 | a[3 * i + 2];
        o[4 * i] = table[v >> 18];
        o[4 * i + 1] = table[v >> 12 & 63];
        o[4 * i + 2] = table[v >> 6 & 63];
        o[4 * i + 3] = table[v & 63];
    }
}
