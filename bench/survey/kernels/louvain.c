#include "native.h"

static inline uint mixed(uint x) {
    x *= 0x9e3779b1u;
    return x ^ x >> 15;
}

// Weights to communities in an array with a place for each, and a list of those that were touched.
void run(const int *restrict row_start, const int *restrict columns, const int *restrict weights,
         const int *restrict strength, int *restrict community, int *restrict total, int *restrict next,
         int *restrict moved, int n, int two_m, int rounds) {
    int *sum = calloc(n, sizeof(int)), *touched = malloc(n * sizeof(int));
    for (int r = 0; r < rounds; r++) {
        for (int v = 0; v < n; v++) {
            int own = community[v], count = 0, to = own;
            next[v] = own;
            if ((mixed(v) >> 7 ^ r) & 1)
                continue;
            for (int e = row_start[v]; e < row_start[v + 1]; e++) {
                int c = community[columns[e]];
                touched[count] = c;
                count += sum[c] == 0;
                sum[c] += weights[e];
            }
            long long k = strength[v], best = (long long)two_m * sum[own] - (total[own] - k) * k;
            int moves = 0;
            for (int i = 0; i < count; i++) {
                int c = touched[i];
                long long gain = (long long)two_m * sum[c] - total[c] * k;
                sum[c] = 0;
                if (c != own && (gain > best || (gain == best && moves && c < to)))
                    best = gain, to = c, moves = 1;
            }
            next[v] = to;
        }
        memset(total, 0, n * sizeof(int));
        for (int v = 0; v < n; v++) {
            *moved += next[v] != community[v];
            community[v] = next[v];
            total[next[v]] += strength[v];
        }
    }
    free(sum);
    free(touched);
}
