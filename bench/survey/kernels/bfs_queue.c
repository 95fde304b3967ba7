#include "native.h"

void run(const int *restrict row_start, const int *restrict neighbours, int *restrict distance, int *restrict sizes,
         int vertices, int source) {
    int *queue = malloc(vertices * sizeof(int)), head = 0, tail = 1;
    queue[0] = source;
    while (head < tail) {
        int u = queue[head++], d = distance[u] + 1;
        for (int e = row_start[u]; e < row_start[u + 1]; e++) {
            int v = neighbours[e];
            if (distance[v] == -1) {
                distance[v] = d;
                sizes[d]++;
                queue[tail++] = v;
            }
        }
    }
    free(queue);
}
