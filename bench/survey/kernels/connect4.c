// Connect four: random games to the end from each move of each position.
#include "native.h"

enum { COLUMNS = 7, ROWS = 6 };

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

static inline ull stone(ull both, int column) {
    return (both + (1ull << (column * 7))) & (63ull << (column * 7));
}

static int play_out(ull mine, ull both, uint *random) {
    for (int sign = 1;; sign = -sign) {
        int open[COLUMNS], count = 0;
        for (int c = 0; c < COLUMNS; c++) {
            open[count] = c;
            count += !(both >> (c * 7 + 5) & 1);
        }
        if (count == 0)
            return 0;
        ull put = stone(both, open[(ull)next_random(random) * count >> 32]);
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
        ull put = stone(all, move), mine = own | put, both = all | put;
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
