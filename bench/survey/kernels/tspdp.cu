// Shortest round trips of many small sets of towns by Held and Karp's table over subsets, a thread a set of towns,
// with the tour written out.
#include <limits.h>

#define TOWNS 9
#define REST (TOWNS - 1)
#define FULL ((1 << REST) - 1)

struct Town {
    short x, y;
};

__device__ int distance(Town a, Town b) {
    int dx = a.x - b.x, dy = a.y - b.y;
    return (int)(sqrtf((float)(dx * dx + dy * dy)) + 0.5f);
}

extern "C" __global__ void tspdp(const Town *towns, int *length, char *tours, int sets) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= sets)
        return;
    int dist[TOWNS][TOWNS];
    for (int i = 0; i < TOWNS; i++)
        for (int j = 0; j < TOWNS; j++)
            dist[i][j] = distance(towns[id * TOWNS + i], towns[id * TOWNS + j]);

    int best[FULL + 1][REST];
    signed char from[FULL + 1][REST];
    for (int mask = 0; mask <= FULL; mask++)
        for (int i = 0; i < REST; i++) {
            best[mask][i] = INT_MAX;
            from[mask][i] = -1;
        }
    for (int i = 0; i < REST; i++)
        best[1 << i][i] = dist[REST][i];
    for (int mask = 1; mask <= FULL; mask++) {
        for (int last = 0; last < REST; last++) {
            if (!(mask & (1 << last)))
                continue;
            int so_far = best[mask][last];
            if (so_far == INT_MAX)
                continue;
            for (int next = 0; next < REST; next++) {
                if (mask & (1 << next))
                    continue;
                int other = mask | (1 << next);
                int candidate = so_far + dist[last][next];
                if (candidate < best[other][next]) {
                    best[other][next] = candidate;
                    from[other][next] = last;
                }
            }
        }
    }
    int shortest = INT_MAX, end = 0;
    for (int i = 0; i < REST; i++) {
        int all = best[FULL][i] + dist[i][REST];
        if (all < shortest) {
            shortest = all;
            end = i;
        }
    }
    length[id] = shortest;
    char *tour = tours + id * TOWNS;
    int mask = FULL, at = end, place = TOWNS - 1;
    while (at >= 0) {
        tour[place--] = at;
        int before = from[mask][at];
        mask ^= 1 << at;
        at = before;
    }
    tour[0] = REST;
}
