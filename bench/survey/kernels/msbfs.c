// 64 breadth-first searches at once, a bit each.
#include "native.h"

void run(const int *restrict row, const int *restrict column, const int *restrict sources, ull *restrict seen,
         ull *restrict front, ull *restrict next, int *restrict reached, long long *restrict far, int n, int levels) {
    memset(seen, 0, n * sizeof *seen);
    memset(next, 0, n * sizeof *next);
    memset(far, 0, n * sizeof *far);
    for (int s = 0; s < 64; s++)
        seen[sources[s]] |= 1ull << s;
    for (int v = 0; v < n; v++) {
        front[v] = seen[v];
        reached[v] = __builtin_popcountll(seen[v]);
    }
    for (int level = 1; level <= levels; level++) {
        for (int v = 0; v < n; v++) {
            ull mine = front[v];
            if (mine)
                for (int e = row[v]; e < row[v + 1]; e++)
                    next[column[e]] |= mine;
        }
        for (int v = 0; v < n; v++) {
            ull fresh = next[v] & ~seen[v];
            next[v] = 0;
            front[v] = fresh;
            seen[v] |= fresh;
            int count = __builtin_popcountll(fresh);
            reached[v] += count;
            far[v] += (long long)count * level;
        }
    }
}
