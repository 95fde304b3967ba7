// Connect four: random games to the end from each move of each position.
#include "native.h"

enum { COLUMNS = 7 };

static const ull TOP = 0x810204081020ull; // the highest place of each column

static inline uint next_random(uint *state) {
    uint s = *state;
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    return *state = s;
}

static inline int four(ull b) {
    ull a = b & (b >> 7), c = b & (b >> 6), d = b & (b >> 8), e = b & (b >> 1);
    return ((a & (a >> 14)) | (c & (c >> 12)) | (d & (d >> 16)) | (e & (e >> 2))) != 0;
}

static int play_out(ull mine, ull both, uint *random) {
    for (int sign = 1;; sign = -sign) {
        ull open = TOP & ~both;
        uint count = __builtin_popcountll(open);
        if (count == 0)
            return 0;
        for (uint k = (ull)next_random(random) * count >> 32; k > 0; k--)
            open &= open - 1;
        ull bottom = (open & -open) >> 5, put = (both + bottom) & (63 * bottom);
        mine |= put;
        both |= put;
        if (four(mine))
            return sign;
        mine ^= both;
    }
}

void run(const ull *restrict positions, int *restrict wins, int *restrict losses, int count, int threads, int games,
         uint seed) {
    for (int at = 0; at < count * COLUMNS; at++) {
        ull own = positions[at / COLUMNS * 2], all = positions[at / COLUMNS * 2 + 1];
        int move = at % COLUMNS;
        if (all >> (move * 7 + 5) & 1)
            continue;
        ull bottom = 1ull << (move * 7), put = (all + bottom) & (63 * bottom), mine = own | put, both = all | put;
        int over = four(mine);
        for (int t = 0; t < threads; t++) {
            uint random = (seed ^ (uint)(at * threads + t + 1) * 2654435769u) | 1u;
            for (int i = 0; i < 4; i++)
                next_random(&random);
            for (int g = t; g < games; g += threads) {
                int result = over ? -1 : play_out(mine ^ both, both, &random);
                wins[at] += result < 0;
                losses[at] += result > 0;
            }
        }
    }
}
