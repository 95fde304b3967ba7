#include "native.h"

void run(const int *restrict off, const int *restrict dst, const float *restrict rank, float *restrict next,
         int n, float d) {
    for (int u = 0; u < n; u++) {
        int b = off[u], e = off[u + 1];
        if (b == e)
            continue;
        float s = d * rank[u] / (e - b);
        for (int k = b; k < e; k++)
            next[dst[k]] += s;
    }
}
