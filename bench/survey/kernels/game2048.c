#include "native.h"

typedef struct {
    uchar board[16];
    int score;
    uint seed;
} Game;

static inline uint below(Game *g, uint n) {
    uint s = g->seed;
    s ^= s << 13, s ^= s >> 17, s ^= s << 5;
    g->seed = s;
    return s % n;
}

static inline void add_tile(Game *g) {
    int empty = 0, i = 0;
    for (int k = 0; k < 16; k++)
        empty += !g->board[k];
    int which = below(g, empty);
    while (g->board[i] || which--)
        i++;
    g->board[i] = below(g, 10) ? 1 : 2;
}

// Lines are read in the direction of the move instead of a board that turns.
static inline int move(Game *g, int direction) {
    static const signed char start[4] = {0, 12, 15, 3}, along[4] = {1, -4, -1, 4}, next_line[4] = {4, 1, -4, -1};
    int moved = 0, step = along[direction];
    for (int i = 0; i < 4; i++) {
        uchar *line = g->board + start[direction] + i * next_line[direction];
        int to = 0, last = 0;
        for (int j = 0; j < 4; j++) {
            int tile = line[j * step];
            if (!tile)
                continue;
            line[j * step] = 0;
            if (tile == last) {
                line[(to - 1) * step] = tile + 1;
                g->score += 2 << tile;
                last = 0, moved = 1;
            } else {
                line[to * step] = tile;
                moved |= to++ != j;
                last = tile;
            }
        }
    }
    return moved;
}

static inline int over(const uchar *b) {
    int going = 0;
    for (int k = 0; k < 16; k++)
        going |= !b[k];
    for (int k = 0; k < 12; k++)
        going |= b[k] == b[k + 4];
    for (int k = 0; k < 16; k += 4)
        going |= (b[k] == b[k + 1]) | (b[k + 1] == b[k + 2]) | (b[k + 2] == b[k + 3]);
    return !going;
}

void run(int *restrict scores, int *restrict moves, int *restrict largest, int *restrict largest_histogram,
         int games, uint seed) {
    for (int id = 0; id < games; id++) {
        Game g = {.seed = (seed + id) * 2654435761u | 1u};
        add_tile(&g);
        add_tile(&g);
        int count = 0, top = 0;
        while (!over(g.board))
            if (move(&g, below(&g, 4))) {
                add_tile(&g);
                count++;
            }
        for (int i = 0; i < 16; i++)
            top = MAX(top, g.board[i]);
        scores[id] = g.score;
        moves[id] = count;
        largest[id] = 1 << top;
        largest_histogram[top]++;
    }
}
