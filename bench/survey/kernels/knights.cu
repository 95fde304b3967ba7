// Knight's tours by Warnsdorff's rule, a thread an attempt: its first square and the order of moves that decides ties.
#define N 8

struct Board {
    signed char cell[N][N];
    int filled;
};

__constant__ int dx[8] = {1, 2, 2, 1, -1, -2, -2, -1};
__constant__ int dy[8] = {2, 1, -1, -2, -2, -1, 1, 2};

__device__ bool open(const Board &board, int x, int y) {
    return x >= 0 && x < N && y >= 0 && y < N && board.cell[y][x] == -1;
}

__device__ int degree(const Board &board, int x, int y) {
    int count = 0;
    for (int k = 0; k < 8; k++)
        if (open(board, x + dx[k], y + dy[k]))
            count++;
    return count;
}

extern "C" __global__ void knights(Board *boards, bool *closed, int *tours, int attempts, unsigned int seed) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= attempts)
        return;
    Board board;
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++)
            board.cell[y][x] = -1;
    board.filled = 0;

    unsigned int random = seed + id * 2654435761u;
    int order[8];
    for (int k = 0; k < 8; k++)
        order[k] = k;
    for (int k = 7; k > 0; k--) {
        random = random * 1664525u + 1013904223u;
        int other = (random >> 16) % (k + 1);
        int t = order[k];
        order[k] = order[other];
        order[other] = t;
    }

    int first_x = id % N, first_y = id / N % N;
    int x = first_x, y = first_y;
    while (true) {
        board.cell[y][x] = board.filled++;
        int best = 9, best_move = -1;
        for (int i = 0; i < 8; i++) {
            int k = order[i];
            int nx = x + dx[k], ny = y + dy[k];
            if (!open(board, nx, ny))
                continue;
            int d = degree(board, nx, ny);
            if (d < best) {
                best = d;
                best_move = k;
            }
        }
        if (best_move == -1)
            break;
        x += dx[best_move];
        y += dy[best_move];
    }
    bool round = false;
    if (board.filled == N * N) {
        int a = abs(x - first_x), b = abs(y - first_y);
        round = (a == 1 && b == 2) || (a == 2 && b == 1);
        atomicAdd(&tours[round ? 1 : 0], 1);
    }
    boards[id] = board;
    closed[id] = round;
}
