// The puzzle of eight sliding tiles, solved in the fewest moves by a thread each: depth-first search that goes
// deeper each time (IDA*), with Manhattan's distances.
#define N 3
#define CELLS (N * N)
#define MAX_MOVES 40

struct Board {
    char cell[CELLS];
    int blank;

    __device__ static int distance(int tile, int position) {
        int goal = tile - 1;
        return abs(position / N - goal / N) + abs(position % N - goal % N);
    }

    __device__ int heuristic() const {
        int sum = 0;
        for (int i = 0; i < CELLS; i++)
            if (cell[i] != 0)
                sum += distance(cell[i], i);
        return sum;
    }

    // where the blank goes, -1 if it cannot
    __device__ int neighbour(int direction) const {
        int row = blank / N, column = blank % N;
        switch (direction) {
        case 0:
            return row > 0 ? blank - N : -1;
        case 1:
            return row < N - 1 ? blank + N : -1;
        case 2:
            return column > 0 ? blank - 1 : -1;
        default:
            return column < N - 1 ? blank + 1 : -1;
        }
    }

    __device__ void slide(int to) {
        cell[blank] = cell[to];
        cell[to] = 0;
        blank = to;
    }
};

extern "C" __global__ void puzzle8(const char *boards, char *paths, int *moves, int *nodes, int count) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count)
        return;
    Board board;
    for (int i = 0; i < CELLS; i++) {
        board.cell[i] = boards[id * CELLS + i];
        if (board.cell[i] == 0)
            board.blank = i;
    }
    int h = board.heuristic();
    int bound = h, visited = 0;
    int direction[MAX_MOVES + 1];
    int depth = 0;
    bool solved = h == 0;
    while (!solved && bound < MAX_MOVES) {
        int next_bound = MAX_MOVES;
        depth = 0;
        direction[0] = -1;
        while (depth >= 0 && !solved) {
            direction[depth]++;
            if (direction[depth] > 3) {
                depth--;
                if (depth >= 0) {
                    int back = board.neighbour(direction[depth] ^ 1);
                    int tile = board.cell[back];
                    h += Board::distance(tile, board.blank) - Board::distance(tile, back);
                    board.slide(back);
                }
                continue;
            }
            if (depth > 0 && direction[depth] == (direction[depth - 1] ^ 1))
                continue;
            int to = board.neighbour(direction[depth]);
            if (to < 0)
                continue;
            int tile = board.cell[to];
            int new_h = h + Board::distance(tile, board.blank) - Board::distance(tile, to);
            if (depth + 1 + new_h > bound) {
                next_bound = min(next_bound, depth + 1 + new_h);
                continue;
            }
            board.slide(to);
            h = new_h;
            visited++;
            depth++;
            direction[depth] = -1;
            if (h == 0)
                solved = true;
        }
        if (!solved)
            bound = next_bound;
    }
    moves[id] = solved ? depth : -1;
    nodes[id] = visited;
    if (solved)
        for (int i = 0; i < depth; i++)
            paths[id * MAX_MOVES + i] = "UDLR"[direction[i]];
}
