// Shortest round trips of many small sets of towns by Held and Karp's table over subsets.
#include "native.h"
enum { TOWNS = 9, REST = TOWNS - 1, FULL = (1 << REST) - 1 };

void run(const short *restrict towns, int *restrict length, char *restrict tours, int sets) {
    for (int id = 0; id < sets; id++, towns += 2 * TOWNS) {
        int dist[TOWNS][TOWNS], best[FULL + 1][REST], end = 0;
        uchar from[FULL + 1][REST];
        for (int i = 0; i < TOWNS; i++)
            for (int j = 0; j < TOWNS; j++) {
                int dx = towns[2 * i] - towns[2 * j], dy = towns[2 * i + 1] - towns[2 * j + 1];
                dist[i][j] = (int)(sqrtf(dx * dx + dy * dy) + 0.5f);
            }
        // by rows of what is reached: those before are smaller numbers
        for (int mask = 1; mask <= FULL; mask++) {
            int row[REST];
            uchar by[REST];
            for (int i = 0; i < REST; i++)
                row[i] = INT32_MAX, by[i] = 0xff;
            for (uint rest = mask; rest; rest &= rest - 1) {
                int next = __builtin_ctz(rest), before = mask ^ 1 << next;
                if (!before) {
                    row[next] = dist[REST][next];
                    continue;
                }
                int least = INT32_MAX, who = 0xff;
                for (uint in = before; in; in &= in - 1) {
                    int last = __builtin_ctz(in), sum = best[before][last] + dist[last][next];
                    if (sum < least)
                        least = sum, who = last;
                }
                row[next] = least, by[next] = who;
            }
            memcpy(best[mask], row, sizeof row);
            memcpy(from[mask], by, sizeof by);
        }
        int shortest = INT32_MAX;
        for (int i = 0; i < REST; i++)
            if (best[FULL][i] + dist[i][REST] < shortest)
                shortest = best[FULL][i] + dist[i][REST], end = i;
        length[id] = shortest;
        char *tour = tours + id * TOWNS;
        for (int mask = FULL, at = end, place = TOWNS - 1; at != 0xff; place--) {
            tour[place] = at;
            int before = from[mask][at];
            mask ^= 1 << at;
            at = before;
        }
        tour[0] = REST;
    }
}
