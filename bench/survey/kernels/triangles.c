#include "native.h"

void run(const int *restrict offsets, const int *restrict neighbours, const int *restrict tail, ull *restrict total,
         int edges) {
    ull sum = 0;
    for (int e = 0; e < edges; e++) {
        int u = tail[e], v = neighbours[e];
        int i = offsets[u], i_end = offsets[u + 1], j = offsets[v], j_end = offsets[v + 1];
        while (i < i_end && j < j_end) {
            int a = neighbours[i], b = neighbours[j];
            if (a == b)
                sum++, i++, j++;
            else if (a < b)
                i++;
            else
                j++;
        }
    }
    *total += sum;
}
