#include "native.h"
void run(const int *restrict ptr, const int *restrict to, int *restrict level, int graphs, int per) {
    for (int g = 0; g < graphs; g++) {
        const int *p = ptr + g * (per + 1);
        int *dist = level + g * per, queue[64], head = 0, tail = 0;
        for (int t = 0; t < per; t++) dist[t] = -1;
        dist[0] = 0; queue[tail++] = 0;
        while (head < tail) {
            int v = queue[head++];
            for (int e = p[v]; e < p[v + 1]; e++)
                if (dist[to[e]] < 0) { dist[to[e]] = dist[v] + 1; queue[tail++] = to[e]; }
        }
    }
}
