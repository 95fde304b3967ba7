// Random walks with restart and the vertices that they visit most.
#include "native.h"

static inline uint pcg(ull *state) {
    ull old = *state;
    *state = old * 6364136223846793005ull + 1442695040888963407ull;
    uint mixed = ((old >> 18) ^ old) >> 27;
    int turn = old >> 59;
    return mixed >> turn | mixed << (-turn & 31);
}

void run(const int *restrict row_start, const int *restrict column, const uint *restrict weight_sum,
         const int *restrict seeds, uint *restrict visits, int *restrict top, int vertices, int walks, int steps,
         uint restart, int count_seeds, int k) {
    for (int s = 0; s < count_seeds; s++) {
        uint *count = visits + (size_t)s * vertices;
        for (int walk = 0; walk < walks; walk++) {
            ull state = ((ull)s << 32 | walk) * 0x9E3779B97F4A7C15ull;
            int at = seeds[s];
            for (int step = 0; step < steps; step++) {
                int begin = row_start[at], end = row_start[at + 1];
                if (begin == end || pcg(&state) < restart) {
                    at = seeds[s];
                    continue;
                }
                uint draw = (ull)pcg(&state) * weight_sum[end - 1] >> 32;
                const uint *low = weight_sum + begin;
                for (int n = end - begin; n > 1;) {
                    int half = n / 2;
                    low = low[half - 1] > draw ? low : low + half;
                    n -= half;
                }
                at = column[low - weight_sum];
                count[at]++;
            }
        }
        ull bound = ~0ull;
        for (int r = 0; r < k; r++) {
            ull best = 0;
            for (int v = 0; v < vertices; v++) {
                ull key = (ull)count[v] << 32 | (uint)~v;
                key = key < bound ? key : 0;
                best = key > best ? key : best;
            }
            bound = best;
            top[s * k + r] = ~(uint)best;
        }
    }
}
