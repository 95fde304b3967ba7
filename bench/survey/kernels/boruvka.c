// A minimum spanning forest by Boruvka's rounds; edges within a tree are left out of later rounds' lists.
#include "native.h"

typedef struct {
    int u, v;
    uint weight;
} Edge;

void run(const Edge *restrict edges, int *restrict label, uchar *restrict in_tree, ull *restrict total, int n, int m,
         int rounds) {
    ull *restrict best = malloc(n * sizeof(ull));
    int *restrict parent = malloc(n * sizeof(int)), *restrict open = malloc(m * sizeof(int)), left = m;
    for (int v = 0; v < n; v++)
        label[v] = v;
    for (int e = 0; e < m; e++)
        open[e] = e;
    for (int r = 0; r < rounds && left; r++) {
        for (int v = 0; v < n; v++)
            best[v] = ~0ull, parent[v] = label[v];
        int kept = 0;
        for (int i = 0; i < left; i++) {
            int e = open[i], a = label[edges[e].u], b = label[edges[e].v];
            if (a == b)
                continue;
            open[kept++] = e;
            ull key = (ull)edges[e].weight << 32 | (uint)e;
            best[a] = MIN(best[a], key);
            best[b] = MIN(best[b], key);
        }
        left = kept;
        for (int v = 0; v < n; v++)
            if (label[v] == v && best[v] != ~0ull) {
                uint e = (uint)best[v];
                int a = label[edges[e].u], other = a == v ? label[edges[e].v] : a;
                if (best[other] == best[v] && v < other)
                    continue;
                parent[v] = other;
                in_tree[e] = 1;
                *total += edges[e].weight;
            }
        for (int v = 0; v < n; v++) {
            int root = parent[v];
            while (root != parent[root])
                root = parent[root];
            label[v] = root;
        }
    }
    free(best), free(parent), free(open);
}
