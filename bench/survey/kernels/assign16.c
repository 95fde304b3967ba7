// Assignment problems of up to 16 by 16 by the Hungarian method with potentials.
#include "native.h"
enum { SIDE = 16, FAR = 0x3fffffff };

void run(const short *restrict costs, const uchar *restrict sides, signed char *restrict chosen,
         int *restrict totals, int count) {
    for (int id = 0; id < count; id++) {
        const short(*cost)[SIDE] = (void *)(costs + id * SIDE * SIDE);
        int n = sides[id], u[SIDE] = {0}, v[SIDE] = {0}, row[SIDE], way[SIDE], total = 0;
        for (int j = 0; j < SIDE; j++)
            row[j] = -1;
        for (int i = 0; i < n; i++) {
            int nearest[SIDE], used[SIDE], at = -1, at_row = i;
            for (int j = 0; j < SIDE; j++) {
                nearest[j] = FAR;
                used[j] = j >= n;
            }
            do {
                if (at >= 0)
                    used[at] = 1;
                int base = u[at_row], delta = FAR, to = 0;
#pragma omp simd
                for (int j = 0; j < SIDE; j++) {
                    int reduced = cost[at_row][j] - base - v[j], better = !used[j] & (reduced < nearest[j]);
                    nearest[j] = better ? reduced : nearest[j];
                    way[j] = better ? at : way[j];
                }
                for (int j = 0; j < n; j++)
                    if (!used[j] && nearest[j] < delta) {
                        delta = nearest[j];
                        to = j;
                    }
                for (int j = 0; j < n; j++)
                    if (used[j]) {
                        u[row[j]] += delta;
                        v[j] -= delta;
                    } else
                        nearest[j] -= delta;
                u[i] += delta;
                at = to;
                at_row = row[at];
            } while (at_row >= 0);
            do {
                int from = way[at];
                row[at] = from < 0 ? i : row[from];
                at = from;
            } while (at >= 0);
        }
        for (int j = 0; j < n; j++) {
            total += cost[row[j]][j];
            chosen[id * SIDE + row[j]] = j;
        }
        totals[id] = total;
    }
}
