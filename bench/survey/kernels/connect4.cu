// Connect four: random games to the end from each move of each position, on boards of two words with a spare bit
// above each column; a block has a move, its warps add up what became of the games.
typedef unsigned long long Board;
#define COLUMNS 7
#define ROWS 6

struct Position {
    Board mine; // of the player who moves
    Board both;
};

__device__ __forceinline__ unsigned int next_random(unsigned int &state) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

__device__ __forceinline__ bool four(Board b) {
    Board m = b & (b >> (ROWS + 1));
    if (m & (m >> (2 * (ROWS + 1))))
        return true;
    m = b & (b >> ROWS);
    if (m & (m >> (2 * ROWS)))
        return true;
    m = b & (b >> (ROWS + 2));
    if (m & (m >> (2 * (ROWS + 2))))
        return true;
    m = b & (b >> 1);
    return m & (m >> 2);
}

__device__ __forceinline__ bool can_play(Board both, int column) {
    return !(both >> (column * (ROWS + 1) + ROWS - 1) & 1);
}

__device__ __forceinline__ Board stone(Board both, int column) {
    Board bottom = 1ull << (column * (ROWS + 1)), whole = ((1ull << ROWS) - 1) << (column * (ROWS + 1));
    return (both + bottom) & whole;
}

// 1 if the one who moves first wins, -1 if the other does, 0 for a full board.
__device__ int play_out(Board mine, Board both, unsigned int &random) {
    int sign = 1;
    while (true) {
        int open[COLUMNS], count = 0;
        for (int c = 0; c < COLUMNS; c++)
            if (can_play(both, c))
                open[count++] = c;
        if (count == 0)
            return 0;
        Board put = stone(both, open[__umulhi(next_random(random), count)]);
        mine |= put;
        both |= put;
        if (four(mine))
            return sign;
        mine ^= both;
        sign = -sign;
    }
}

extern "C" __global__ void connect4(const Position *positions, int *wins, int *losses, int games, unsigned int seed) {
    int move = blockIdx.x, at = blockIdx.y * COLUMNS + move;
    Position start = positions[blockIdx.y];
    if (!can_play(start.both, move))
        return;
    Board put = stone(start.both, move);
    Board mine = start.mine | put, both = start.both | put;
    unsigned int random = (seed ^ (at * blockDim.x + threadIdx.x + 1) * 2654435769u) | 1u;
    for (int i = 0; i < 4; i++)
        next_random(random);
    int won = 0, lost = 0;
    for (int g = threadIdx.x; g < games; g += blockDim.x) {
        int result = four(mine) ? -1 : play_out(mine ^ both, both, random);
        if (result < 0)
            won++;
        else if (result > 0)
            lost++;
    }
    for (int offset = warpSize / 2; offset > 0; offset /= 2) {
        won += __shfl_down_sync(0xffffffff, won, offset);
        lost += __shfl_down_sync(0xffffffff, lost, offset);
    }
    if (threadIdx.x % warpSize == 0) {
        atomicAdd(&wins[at], won);
        atomicAdd(&losses[at], lost);
    }
}
