// Othello: how many games of some moves there are from each position (perft), by recursion on boards of two words.
typedef unsigned long long Board;

__constant__ Board edge_mask[4] = {
    0x7e7e7e7e7e7e7e7eull, // along rows
    0x00ffffffffffff00ull, // along columns
    0x007e7e7e7e7e7e00ull, // both diagonals
    0x007e7e7e7e7e7e00ull,
};
__constant__ int step_of[4] = {1, 8, 7, 9};

__device__ Board moves_of(Board own, Board other) {
    Board found = 0, empty = ~(own | other);
#pragma unroll
    for (int d = 0; d < 4; d++) {
        int s = step_of[d];
        Board inner = other & edge_mask[d];
        Board up = inner & (own << s), down = inner & (own >> s);
        for (int i = 0; i < 5; i++) {
            up |= inner & (up << s);
            down |= inner & (down >> s);
        }
        found |= (up << s) | (down >> s);
    }
    return found & empty;
}

__device__ Board flips_of(Board own, Board other, int square) {
    Board flips = 0, start = 1ull << square;
    for (int d = 0; d < 4; d++) {
        int s = step_of[d];
        Board inner = other & edge_mask[d], line = 0;
        for (Board b = start << s; b; b <<= s) {
            if (b & inner)
                line |= b;
            else {
                if (b & own)
                    flips |= line;
                break;
            }
        }
        line = 0;
        for (Board b = start >> s; b; b >>= s) {
            if (b & inner)
                line |= b;
            else {
                if (b & own)
                    flips |= line;
                break;
            }
        }
    }
    return flips;
}

__device__ __noinline__ unsigned int perft(Board own, Board other, int depth, bool passed) {
    Board moves = moves_of(own, other);
    if (moves == 0) {
        if (passed || depth == 1)
            return 1;
        return perft(other, own, depth - 1, true);
    }
    if (depth == 1)
        return __popcll(moves);
    unsigned int count = 0;
    while (moves) {
        int square = __ffsll(moves) - 1;
        moves &= moves - 1;
        Board flips = flips_of(own, other, square);
        count += perft(other ^ flips, own | flips | 1ull << square, depth - 1, false);
    }
    return count;
}

extern "C" __global__ void othello(const ulonglong2 *__restrict__ positions, unsigned int *__restrict__ nodes, int n,
                                   int depth) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    ulonglong2 p = positions[i];
    nodes[i] = perft(p.x, p.y, depth, false);
}
