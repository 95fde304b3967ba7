// Betweenness of a graph's vertices from some sources.
#include "native.h"

void run(const int *restrict row, const int *restrict col, const int *restrict sources, int *restrict distance,
         uint *restrict sigma, double *restrict delta, double *restrict centrality, int n, int count) {
    int *queue = malloc(n * sizeof *queue);
    for (int s = 0; s < count; s++) {
        memset(distance, -1, n * sizeof *distance);
        memset(sigma, 0, n * sizeof *sigma);
        memset(delta, 0, n * sizeof *delta);
        int head = 0, tail = 1;
        queue[0] = sources[s];
        distance[sources[s]] = 0;
        sigma[sources[s]] = 1;
        while (head < tail) {
            int v = queue[head++], next = distance[v] + 1;
            uint paths = sigma[v];
            for (int e = row[v]; e < row[v + 1]; e++) {
                int w = col[e];
                if (distance[w] < 0) {
                    distance[w] = next;
                    queue[tail++] = w;
                }
                if (distance[w] == next)
                    sigma[w] += paths;
            }
        }
        while (tail-- > 0) {
            int v = queue[tail], next = distance[v] + 1;
            double sum = 0, mine = sigma[v];
            for (int e = row[v]; e < row[v + 1]; e++) {
                int w = col[e];
                if (distance[w] == next)
                    sum += mine / sigma[w] * (1 + delta[w]);
            }
            delta[v] = sum;
            if (v != sources[s])
                centrality[v] += sum;
        }
    }
    free(queue);
}
