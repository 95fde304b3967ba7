#include "native.h"

void run(const int *restrict from, const int *restrict to, const int *restrict weight, int *restrict dist, int edges,
         int rounds) {
    for (int k = 0; k < rounds; k++)
        for (int e = 0; e < edges; e++) {
            int d = dist[from[e]];
            if (d < 1000000000 && d + weight[e] < dist[to[e]])
                dist[to[e]] = d + weight[e];
        }
}
