// Dijkstra from each node of a graph, a thread a source, on a matrix of distances (0: no edge), with the nearest
// node sought through the whole row and all state in global memory.
#include <limits.h>

__device__ int nearest(const int *dist, const bool *done, int n) {
    int least = INT_MAX, at = -1;
    for (int v = 0; v < n; v++)
        if (!done[v] && dist[v] < least) {
            least = dist[v];
            at = v;
        }
    return at;
}

extern "C" __global__ void dijkstra(const int *graph, int *dist, int *parent, bool *done, int n) {
    int source = blockIdx.x * blockDim.x + threadIdx.x;
    if (source >= n)
        return;
    dist += source * n;
    parent += source * n;
    done += source * n;
    for (int v = 0; v < n; v++) {
        dist[v] = INT_MAX;
        parent[v] = -1;
        done[v] = false;
    }
    dist[source] = 0;
    for (int count = 0; count < n - 1; count++) {
        int u = nearest(dist, done, n);
        if (u < 0)
            break;
        done[u] = true;
        for (int v = 0; v < n; v++)
            if (!done[v] && graph[u * n + v] && dist[u] != INT_MAX && dist[u] + graph[u * n + v] < dist[v]) {
                dist[v] = dist[u] + graph[u * n + v];
                parent[v] = u;
            }
    }
}
