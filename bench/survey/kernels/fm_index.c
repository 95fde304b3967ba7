#include "native.h"

typedef struct {
    uint before[4];
    uint64_t low, high;
} Part;

static inline uint rank(const Part *parts, int c, uint i, uint end_at) {
    const Part *part = parts + (i >> 6);
    uint64_t low = part->low ^ (c & 1 ? 0 : -1ull), high = part->high ^ (c & 2 ? 0 : -1ull);
    uint64_t mask = (1ull << (i & 63)) - 1;
    return part->before[c] + __builtin_popcountll(low & high & mask) - (c == 0 && i > end_at);
}

void run(const Part *restrict parts, const uint *restrict first, const uchar *restrict patterns,
         uint *restrict ranges, int n, int length, uint letters, uint end_at) {
    for (int id = 0; id < n; id++) {
        const uchar *pattern = patterns + (long)id * length;
        uint low = 0, high = letters;
        for (int k = length - 1; k >= 0; k--) {
            int c = pattern[k];
            low = first[c] + rank(parts, c, low, end_at);
            high = first[c] + rank(parts, c, high, end_at);
            if (low >= high)
                break;
        }
        ranges[2 * id] = low;
        ranges[2 * id + 1] = high;
    }
}
