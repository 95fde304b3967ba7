// The cheapest order of a product of matrices for many chains, and the product written with its parentheses.
#include "native.h"
enum { MOST = 12, TEXT = 64 };

static char *write_product(const uchar (*split)[MOST], int i, int j, char *out) {
    if (i == j) {
        *out++ = 'A' + i;
        return out;
    }
    *out++ = '(';
    out = write_product(split, i, split[i][j], out);
    out = write_product(split, split[i][j] + 1, j, out);
    *out++ = ')';
    return out;
}

void run(const int *restrict dims, const int *restrict counts, long long *restrict costs, char *restrict texts,
         int chains) {
    for (int id = 0; id < chains; id++) {
        const int *d = dims + id * (MOST + 1);
        int n = counts[id];
        // of the lower half the same, so that both factors' costs lie side by side
        long long cost[MOST][MOST], turned[MOST][MOST];
        uchar split[MOST][MOST];
        for (int i = 0; i < n; i++)
            cost[i][i] = turned[i][i] = 0;
        for (int len = 2; len <= n; len++)
            for (int i = 0, j = len - 1; j < n; i++, j++) {
                long long least = INT64_MAX, ends = (long long)d[i] * d[j + 1];
                int where = i;
                for (int k = i; k < j; k++) {
                    long long c = cost[i][k] + turned[j][k + 1] + ends * d[k + 1];
                    where = c < least ? k : where;
                    least = MIN(c, least);
                }
                cost[i][j] = turned[j][i] = least;
                split[i][j] = where;
            }
        costs[id] = cost[0][n - 1];
        char *text = texts + id * TEXT, *end = write_product(split, 0, n - 1, text);
        memset(end, 0, text + TEXT - end);
    }
}
