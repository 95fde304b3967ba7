#include "native.h"

void run(const uint *restrict starts, int *restrict counts, int n, int rows, uint full) {
    for (int i = 0; i < n; i++) {
        uint cols[16], left[16], right[16], open[16];
        const uint *s = starts + 4 * i;
        int depth = 0, count = 0;
        cols[0] = s[0], left[0] = s[1], right[0] = s[2];
        open[0] = full & ~(s[0] | s[1] | s[2]);
        while (depth >= 0) {
            uint o = open[depth];
            if (o == 0) {
                depth--;
                continue;
            }
            uint bit = o & -o;
            open[depth] = o ^ bit;
            if (depth == rows - 1) {
                count++;
                continue;
            }
            uint c = cols[depth] | bit, l = (left[depth] | bit) << 1, r = (right[depth] | bit) >> 1;
            depth++;
            cols[depth] = c, left[depth] = l, right[depth] = r;
            open[depth] = full & ~(c | l | r);
        }
        counts[i] = count;
    }
}
