// Byte-pair encoding of words: the pair that was learned first is joined, until no pair is known.
#include "native.h"
#define NONE (~0u)

typedef struct {
    ull pair, rank;
} Slot;

static inline uint find(const Slot *slots, uint mask, uint left, uint right) {
    ull key = (ull)left << 32 | right;
    for (uint at = (uint)(key * 0x9e3779b97f4a7c15ull >> 40) & mask;; at = (at + 1) & mask) {
        if (slots[at].pair == key)
            return slots[at].rank;
        if (slots[at].pair == ~0ull)
            return NONE;
    }
}

void run(const uchar *restrict text, const int *restrict word_start, const Slot *restrict slots,
         uint16_t *restrict tokens, uchar *restrict counts, uint mask, int words) {
    for (int w = 0; w < words; w++) {
        int start = word_start[w], length = word_start[w + 1] - start;
        uint token[33], rank[33];
        for (int k = 0; k < length; k++)
            token[k] = text[start + k];
        for (int k = 0; k + 1 < length; k++)
            rank[k] = find(slots, mask, token[k], token[k + 1]);
        while (length > 1) {
            int at = 0;
            for (int k = 1; k + 1 < length; k++)
                if (rank[k] < rank[at])
                    at = k;
            if (rank[at] == NONE)
                break;
            token[at] = 256 + rank[at];
            length--;
            for (int k = at + 1; k < length; k++) {
                token[k] = token[k + 1];
                rank[k] = rank[k + 1];
            }
            if (at + 1 < length)
                rank[at] = find(slots, mask, token[at], token[at + 1]);
            if (at > 0)
                rank[at - 1] = find(slots, mask, token[at - 1], token[at]);
        }
        for (int k = 0; k < length; k++)
            tokens[32 * w + k] = token[k];
        counts[w] = length;
    }
}
