#include "native.h"

static int root(int *parent, int v) {
    int p = parent[v];
    while (p != v) {
        int q = parent[p];
        parent[v] = q;
        v = p;
        p = q;
    }
    return v;
}

void run(const int *restrict edges, int *restrict parent, int count, int n) {
    for (int i = 0; i < count; i++) {
        int u = root(parent, edges[2 * i]), v = root(parent, edges[2 * i + 1]);
        parent[MAX(u, v)] = MIN(u, v);
    }
    for (int v = 0; v < n; v++)
        parent[v] = parent[parent[v]];
}
