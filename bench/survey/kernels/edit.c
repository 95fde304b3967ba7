#include "native.h"

static inline int least(int a, int b) { return a < b ? a : b; }

void run(const unsigned char *restrict a, const unsigned char *restrict b, int *restrict out, int n, int length) {
    for (int i = 0; i < n; i++) {
        int row[65];
        for (int k = 0; k <= length; k++)
            row[k] = k;
        for (int y = 0; y < length; y++) {
            int before = y, left = y + 1, c = a[y * n + i];
            row[0] = left;
            for (int x = 0; x < length; x++) {
                int above = row[x + 1], best = before + (b[x * n + i] != c);
                best = least(best, least(above, left) + 1);
                before = above;
                row[x + 1] = left = best;
            }
        }
        out[i] = row[length];
    }
}
