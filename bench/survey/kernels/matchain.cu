// The cheapest order of a product of matrices, a thread a chain, and the product written with its parentheses.
#include <limits.h>

#define MAX_MATRICES 12
#define TEXT 64

struct Writer {
    char *text;
    int length;

    __device__ void put(char c) {
        if (length < TEXT - 1)
            text[length++] = c;
    }
};

struct Table {
    long long cost[MAX_MATRICES][MAX_MATRICES];
    int split[MAX_MATRICES][MAX_MATRICES];
};

__device__ void parentheses(const Table &table, int i, int j, Writer &out) {
    if (i == j) {
        out.put('A' + i);
        return;
    }
    out.put('(');
    parentheses(table, i, table.split[i][j], out);
    parentheses(table, table.split[i][j] + 1, j, out);
    out.put(')');
}

extern "C" __global__ void matchain(const int *dims, const int *counts, long long *costs, char *texts, int chains) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= chains)
        return;
    const int *d = dims + id * (MAX_MATRICES + 1);
    int n = counts[id];
    Table table;
    for (int i = 0; i < n; i++)
        table.cost[i][i] = 0;
    for (int len = 2; len <= n; len++) {
        for (int i = 0; i + len <= n; i++) {
            int j = i + len - 1;
            table.cost[i][j] = LLONG_MAX;
            for (int k = i; k < j; k++) {
                long long c = table.cost[i][k] + table.cost[k + 1][j] + (long long)d[i] * d[k + 1] * d[j + 1];
                if (c < table.cost[i][j]) {
                    table.cost[i][j] = c;
                    table.split[i][j] = k;
                }
            }
        }
    }
    costs[id] = table.cost[0][n - 1];
    Writer out = {texts + id * TEXT, 0};
    parentheses(table, 0, n - 1, out);
    while (out.length < TEXT)
        out.text[out.length++] = 0;
}
