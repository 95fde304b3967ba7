#include "native.h"

void run(const int *restrict row_start, const int *restrict columns, const int *restrict source,
         const int *restrict twin, uchar *alive, uchar *next, int *restrict removed, int edges, int k, int rounds) {
    for (int r = 0; r < rounds; r++) {
        for (int e = 0; e < edges; e++) {
            int u = source[e], v = columns[e];
            if (u > v)
                continue;
            int count = 0;
            if (alive[e]) {
                int i = row_start[u], i_end = row_start[u + 1], j = row_start[v], j_end = row_start[v + 1];
                while (i < i_end && j < j_end && count < k - 2) {
                    int a = columns[i], b = columns[j];
                    count += a == b && alive[i] && alive[j];
                    i += a <= b;
                    j += b <= a;
                }
                *removed += count < k - 2;
            }
            next[e] = next[twin[e]] = count >= k - 2;
        }
        uchar *other = alive;
        alive = next;
        next = other;
    }
}
