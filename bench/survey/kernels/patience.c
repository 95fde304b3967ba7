// The longest increasing run (with gaps) of each row by piles of patience.
#include "native.h"
enum { MAX_LEN = 256 };

void run(const int *restrict data, const int *restrict lengths, int *restrict lis_length, short *restrict members,
         int pitch, int rows) {
    for (int r = 0; r < rows; r++) {
        const int *row = data + (long)r * pitch;
        int value[MAX_LEN], piles = 0;
        short top[MAX_LEN], previous[MAX_LEN];
        for (int i = 0; i < lengths[r]; i++) {
            int v = row[i], p = 0;
            // without branches
            for (int n = piles; n > 0;) {
                int half = n >> 1, less = value[p + half] < v;
                p = less ? p + half + 1 : p;
                n = less ? n - half - 1 : half;
            }
            previous[i] = p ? top[p - 1] : -1;
            top[p] = i, value[p] = v;
            piles += p == piles;
        }
        lis_length[r] = piles;
        short *out = members + (long)r * pitch;
        for (int i = piles ? top[piles - 1] : -1; i >= 0; i = previous[i])
            *out++ = i;
    }
}
