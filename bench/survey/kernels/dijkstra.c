// Dijkstra from each node on a matrix: the nearest is found and neighbours are brought nearer in vectors.
#include "native.h"
#include <limits.h>

void run(const int *restrict graph, int *restrict all_dist, int *restrict all_parent, uchar *restrict all_done,
         int n) {
    int *restrict open = malloc(n * sizeof(int));  // the distance, INT_MAX for those done
    for (int s = 0; s < n; s++) {
        int *restrict dist = all_dist + s * n, *restrict parent = all_parent + s * n;
        uchar *restrict done = all_done + s * n;
        for (int v = 0; v < n; v++)
            open[v] = dist[v] = INT_MAX, parent[v] = -1, done[v] = 0;
        open[s] = dist[s] = 0;
        for (int count = 0; count < n - 1; count++) {
            int least = INT_MAX, u = 0;
#pragma omp simd reduction(min : least)
            for (int v = 0; v < n; v++)
                least = MIN(least, open[v]);
            if (least == INT_MAX)
                break;
            while (open[u] != least)
                u++;
            done[u] = 1;
            open[u] = INT_MAX;
            const int *restrict edge = graph + u * n;
#pragma omp simd
            for (int v = 0; v < n; v++) {
                int way = least + edge[v], better = edge[v] != 0 && way < dist[v];  // none is when v is done
                dist[v] = better ? way : dist[v];
                open[v] = better ? way : open[v];
                parent[v] = better ? u : parent[v];
            }
        }
    }
    free(open);
}
