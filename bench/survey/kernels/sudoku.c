#include "native.h"
void run(const uchar *restrict in, uchar *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        uint16_t row[9] = {0}, col[9] = {0}, box[9] = {0};
        uchar cell[81], open[81];
        int m = 0, at = 0;
        for (int k = 0; k < 81; k++) {
            int d = in[i * 81 + k], r = k / 9, c = k % 9;
            cell[k] = d;
            if (d) { row[r] |= 1 << d; col[c] |= 1 << d; box[r / 3 * 3 + c / 3] |= 1 << d; }
            else open[m++] = k;
        }
        while (at >= 0 && at < m) {
            int k = open[at], r = k / 9, c = k % 9, b = r / 3 * 3 + c / 3, d = cell[k];
            if (d) { row[r] &= ~(1 << d); col[c] &= ~(1 << d); box[b] &= ~(1 << d); }
            int used = row[r] | col[c] | box[b];
            for (d++; d <= 9 && used >> d & 1; d++) ;
            if (d > 9) { cell[k] = 0; at--; }
            else { cell[k] = d; row[r] |= 1 << d; col[c] |= 1 << d; box[b] |= 1 << d; at++; }
        }
        memcpy(out + i * 81, cell, 81);
    }
}
