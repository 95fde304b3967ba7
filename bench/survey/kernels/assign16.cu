// Assignment problems of up to 16 by 16 (the Hungarian method with potentials): sixteen lanes have a problem, a column
// each; the nearest free column is found by shuffles within the sixteen. Problems are fetched from a counter.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

#define SIDE 16
#define NONE (-1)
#define FAR 0x3fffffff

struct Problem {
    int cost[SIDE][SIDE + 1];
    int u[SIDE];
};

extern "C" __global__ void assign16(const short *__restrict__ costs, const unsigned char *__restrict__ sides,
                                    signed char *__restrict__ chosen, int *__restrict__ totals, int *next, int count) {
    extern __shared__ Problem problems[];
    cg::thread_block_tile<SIDE> tile = cg::tiled_partition<SIDE>(cg::this_thread_block());
    Problem &mine = problems[tile.meta_group_rank()];
    const int j = tile.thread_rank();
    while (true) {
        int id;
        if (j == 0)
            id = atomicAdd(next, 1);
        id = tile.shfl(id, 0);
        if (id >= count)
            break;
        const int n = sides[id];
        for (int i = 0; i < n; i++)
            if (j < n)
                mine.cost[i][j] = costs[(id * SIDE + i) * SIDE + j];
        mine.u[j] = 0;
        tile.sync();

        int v = 0, row = NONE;  // this column's potential and the row that has it
        for (int i = 0; i < n; i++) {
            int nearest = FAR, way = NONE, at = NONE, at_row = i;
            bool used = j >= n;
            do {
                if (j == at)
                    used = true;
                if (!used) {
                    int reduced = mine.cost[at_row][j] - mine.u[at_row] - v;
                    if (reduced < nearest) {
                        nearest = reduced;
                        way = at;
                    }
                }
                int delta = used ? FAR : nearest, to = j;
                for (int step = SIDE / 2; step > 0; step >>= 1) {
                    int other = tile.shfl_xor(delta, step), other_to = tile.shfl_xor(to, step);
                    if (other < delta || (other == delta && other_to < to)) {
                        delta = other;
                        to = other_to;
                    }
                }
                tile.sync();
                if (used && j < n) {
                    mine.u[row] += delta;
                    v -= delta;
                } else {
                    nearest -= delta;
                }
                if (j == 0)
                    mine.u[i] += delta;
                tile.sync();
                at = to;
                at_row = tile.shfl(row, at);
            } while (at_row != NONE);
            do {
                int from = tile.shfl(way, at);
                int its_row = from == NONE ? i : tile.shfl(row, from);
                if (j == at)
                    row = its_row;
                at = from;
            } while (at != NONE);
        }
        int cost = 0;
        if (j < n) {
            cost = mine.cost[row][j];
            chosen[id * SIDE + row] = j;
        }
        for (int step = SIDE / 2; step > 0; step >>= 1)
            cost += tile.shfl_down(cost, step);
        if (j == 0)
            totals[id] = cost;
        tile.sync();
    }
}
