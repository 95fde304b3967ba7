// Core numbers by peeling, a queue for each k.
#include "native.h"

void run(const int *restrict row_start, const int *restrict neighbours, int *restrict degree, int *restrict removed,
         int n, int levels) {
    int *restrict queue = malloc(n * sizeof(int));
    for (int k = 0; k < levels; k++) {
        int tail = 0;
        for (int v = 0; v < n; v++)
            if (degree[v] == k)
                queue[tail++] = v;
        for (int i = 0; i < tail; i++) {
            int v = queue[i];
            for (int e = row_start[v]; e < row_start[v + 1]; e++) {
                int u = neighbours[e];
                if (degree[u] > k && --degree[u] == k)
                    queue[tail++] = u;
            }
        }
        removed[k] += tail;
    }
    free(queue);
}
