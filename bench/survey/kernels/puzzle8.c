#include "native.h"
enum { N = 3, CELLS = 9, MAX_MOVES = 40 };

void run(const char *restrict boards, char *restrict paths, int *restrict moves, int *restrict nodes, int count) {
    signed char to_of[CELLS][4], distance[CELLS][CELLS] = {0};
    for (int i = 0; i < CELLS; i++) {
        to_of[i][0] = i >= N ? i - N : -1, to_of[i][1] = i < CELLS - N ? i + N : -1;
        to_of[i][2] = i % N ? i - 1 : -1, to_of[i][3] = i % N < N - 1 ? i + 1 : -1;
        for (int tile = 1; tile < CELLS; tile++)
            distance[tile][i] = abs(i / N - (tile - 1) / N) + abs(i % N - (tile - 1) % N);
    }
    for (int id = 0; id < count; id++) {
        signed char cell[CELLS], direction[MAX_MOVES + 1], from[MAX_MOVES + 1], gain[MAX_MOVES + 1];
        memcpy(cell, boards + id * CELLS, CELLS);
        int blank = 0, h = 0, visited = 0, depth = 0;
        for (int i = 0; i < CELLS; i++) {
            h += distance[cell[i]][i];
            blank = cell[i] ? blank : i;
        }
        for (int bound = h; h && bound < MAX_MOVES;) {
            int next_bound = MAX_MOVES;
            depth = 0;
            direction[0] = -1;
            for (;;) {
                int d = ++direction[depth];
                if (d > 3) {
                    if (--depth < 0)
                        break;
                    int back = from[depth];
                    cell[blank] = cell[back], cell[back] = 0;
                    blank = back;
                    h -= gain[depth];
                    continue;
                }
                int to = to_of[blank][d];
                if (to < 0 || (depth && to == from[depth - 1]))
                    continue;
                int tile = cell[to], more = distance[tile][blank] - distance[tile][to], f = depth + 1 + h + more;
                if (f > bound) {
                    next_bound = MIN(next_bound, f);
                    continue;
                }
                from[depth] = blank, gain[depth] = more;
                cell[blank] = tile, cell[to] = 0;
                blank = to;
                h += more;
                visited++;
                direction[++depth] = -1;
                if (!h)
                    break;
            }
            if (h)
                bound = next_bound;
        }
        moves[id] = h ? -1 : depth;
        nodes[id] = visited;
        if (!h)
            for (int i = 0; i < depth; i++)
                paths[id * MAX_MOVES + i] = "UDLR"[direction[i]];
    }
}
