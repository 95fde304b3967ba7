// Shortest paths from one vertex by near and far piles.
#include "native.h"

void run(const int *restrict row_start, const int *restrict neighbours, const int *restrict weights,
         int *restrict dist, int n, int source, int delta) {
    int edges = row_start[n];
    int *near = malloc(n * sizeof(int)), *next = malloc(n * sizeof(int)), *far = malloc((4L * edges) * sizeof(int));
    uchar *queued = calloc(n, 1);
    for (int v = 0; v < n; v++)
        dist[v] = 0x7fffffff;
    dist[source] = 0;
    near[0] = source;
    int count = 1, far_count = 0, limit = delta;
    while (count) {
        int next_count = 0;
        for (int i = 0; i < count; i++) {
            int v = near[i], from = dist[v];
            queued[v] = 0;
            for (int e = row_start[v]; e < row_start[v + 1]; e++) {
                int u = neighbours[e], reached = from + weights[e];
                if (reached >= dist[u])
                    continue;
                dist[u] = reached;
                if (reached >= limit)
                    far[far_count++] = u;
                else if (!queued[u])
                    queued[u] = 1, next[next_count++] = u;
            }
        }
        while (next_count == 0 && far_count) {
            limit += delta;
            int kept = 0;
            for (int i = 0; i < far_count; i++) {
                int v = far[i];
                if (dist[v] < limit - delta)
                    continue;
                if (dist[v] >= limit)
                    far[kept++] = v;
                else if (!queued[v])
                    queued[v] = 1, next[next_count++] = v;
            }
            far_count = kept;
        }
        int *other = near;
        near = next, next = other, count = next_count;
    }
    free(near), free(next), free(far), free(queued);
}
