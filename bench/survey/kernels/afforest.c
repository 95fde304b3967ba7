// Connected components by Afforest, by a forest whose roots are least.
#include "native.h"

static void link(int u, int v, int *parent) {
    int a = parent[u], b = parent[v];
    while (a != b) {
        int high = MAX(a, b), low = MIN(a, b), above = parent[high];
        if (above == low)
            return;
        if (above == high) {
            parent[high] = low;
            return;
        }
        a = parent[above];
        b = parent[low];
    }
}

static void compress(int *parent, int n) {
    for (int v = 0; v < n; v++) {
        int at = parent[v];
        while (at != parent[at])
            at = parent[at];
        parent[v] = at;
    }
}

void run(const int *restrict row, const int *restrict column, int *parent, int n, int sampled) {
    for (int v = 0; v < n; v++)
        parent[v] = v;
    for (int nth = 0; nth < sampled; nth++) {
        for (int v = 0; v < n; v++)
            if (row[v] + nth < row[v + 1])
                link(v, column[row[v] + nth], parent);
        compress(parent, n);
    }
    int label[256], best = 0, at = 0;
    for (ull t = 0; t < 256; t++)
        label[t] = parent[t * 2654435761ull % n];
    for (int t = 0; t < 256; t++) {
        int same = 0;
        for (int i = 0; i < 256; i++)
            same += label[i] == label[t];
        if (same >= best)
            best = same, at = t;
    }
    int largest = label[at];
    for (int v = 0; v < n; v++)
        if (parent[v] != largest)
            for (int e = row[v] + sampled; e < row[v + 1]; e++)
                link(v, column[e], parent);
    compress(parent, n);
}
