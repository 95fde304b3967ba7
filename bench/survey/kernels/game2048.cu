// Random games of 2048: each thread plays to the end on a board of its own, which it turns so that it has to slide
// to the left only.
struct Game {
    int board[4][4]; // exponents of 2, 0: empty
    int score;
    unsigned int seed;

    __device__ unsigned int random(unsigned int below) {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        return seed % below;
    }

    __device__ void add_tile() {
        int empty = 0;
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                if (board[i][j] == 0)
                    empty++;
        int which = random(empty);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                if (board[i][j] == 0 && which-- == 0)
                    board[i][j] = random(10) == 0 ? 2 : 1;
    }

    __device__ void rotate() {
        int turned[4][4];
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                turned[j][3 - i] = board[i][j];
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                board[i][j] = turned[i][j];
    }

    __device__ bool slide_left() {
        bool moved = false;
        for (int i = 0; i < 4; i++) {
            int to = 0, last = 0;
            for (int j = 0; j < 4; j++) {
                int tile = board[i][j];
                if (tile == 0)
                    continue;
                board[i][j] = 0;
                if (tile == last) {
                    board[i][to - 1] = tile + 1;
                    score += 1 << (tile + 1);
                    last = 0;
                    moved = true;
                } else {
                    board[i][to] = tile;
                    if (to != j)
                        moved = true;
                    to++;
                    last = tile;
                }
            }
        }
        return moved;
    }

    __device__ bool move(int direction) {
        for (int i = 0; i < direction; i++)
            rotate();
        bool moved = slide_left();
        for (int i = direction; i < 4; i++)
            rotate();
        return moved;
    }

    __device__ bool over() const {
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                if (board[i][j] == 0)
                    return false;
                if (j < 3 && board[i][j] == board[i][j + 1])
                    return false;
                if (i < 3 && board[i][j] == board[i + 1][j])
                    return false;
            }
        return true;
    }
};

extern "C" __global__ void game2048(int *scores, int *moves, int *largest, int *largest_histogram, int games,
                                    unsigned int seed) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= games)
        return;
    Game game;
    for (int i = 0; i < 16; i++)
        game.board[i / 4][i % 4] = 0;
    game.score = 0;
    game.seed = (seed + id) * 2654435761u | 1u;
    game.add_tile();
    game.add_tile();
    int count = 0;
    while (!game.over()) {
        if (game.move(game.random(4))) {
            game.add_tile();
            count++;
        }
    }
    int top = 0;
    for (int i = 0; i < 16; i++)
        top = max(top, game.board[i / 4][i % 4]);
    scores[id] = game.score;
    moves[id] = count;
    largest[id] = 1 << top;
    atomicAdd(&largest_histogram[top], 1);
}
