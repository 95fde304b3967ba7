// Othello: how many games of some moves there are from each position (perft).
#include "native.h"

static const ull edge_mask[4] = {0x7e7e7e7e7e7e7e7e, 0x00ffffffffffff00, 0x007e7e7e7e7e7e00, 0x007e7e7e7e7e7e00};
static const int step_of[4] = {1, 8, 7, 9};

// The four directions are lanes of a vector.
static inline ull moves_of(ull own, ull other) {
    ull found = 0;
#pragma omp simd reduction(| : found)
    for (int d = 0; d < 4; d++) {
        int s = step_of[d];
        ull inner = other & edge_mask[d], up = inner & (own << s), down = inner & (own >> s);
        for (int i = 0; i < 5; i++) {
            up |= inner & (up << s);
            down |= inner & (down >> s);
        }
        found |= (up << s) | (down >> s);
    }
    return found & ~(own | other);
}

static inline ull flips_of(ull own, ull other, int square) {
    ull flips = 0, start = 1ull << square;
    for (int d = 0; d < 4; d++) {
        int s = step_of[d];
        ull inner = other & edge_mask[d], line = 0, b;
        for (b = start << s; b & inner; b <<= s)
            line |= b;
        if (b & own)
            flips |= line;
        line = 0;
        for (b = start >> s; b & inner; b >>= s)
            line |= b;
        if (b & own)
            flips |= line;
    }
    return flips;
}

static uint perft(ull own, ull other, int depth, int passed) {
    ull moves = moves_of(own, other);
    if (moves == 0)
        return passed || depth == 1 ? 1 : perft(other, own, depth - 1, 1);
    if (depth == 1)
        return __builtin_popcountll(moves);
    uint count = 0;
    while (moves) {
        int square = __builtin_ctzll(moves);
        moves &= moves - 1;
        ull flips = flips_of(own, other, square);
        count += perft(other ^ flips, own | flips | 1ull << square, depth - 1, 0);
    }
    return count;
}

void run(const ull *restrict positions, uint *restrict nodes, int n, int depth) {
    for (int i = 0; i < n; i++)
        nodes[i] = perft(positions[2 * i], positions[2 * i + 1], depth, 0);
}
