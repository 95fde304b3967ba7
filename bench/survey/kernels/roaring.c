// Both of two bitmaps in Roaring's form: lists with lists are merged, all others by bits.
#include "native.h"
enum { WORDS = 1024, LIST_LIMIT = 4096, LIST = 0, BITS = 1, RUNS = 2 };

typedef struct {
    uint offset;
    unsigned short kind, size;
} Container;

typedef struct {
    int x, y;
} int2;

static void set_range(ull *restrict bits, uint first, uint last) {
    uint from = first >> 6, to = last >> 6;
    ull head = ~0ull << (first & 63), tail = ~0ull >> (63 - (last & 63));
    if (from == to) {
        bits[from] |= head & tail;
        return;
    }
    bits[from] |= head;
    for (uint w = from + 1; w < to; w++)
        bits[w] = ~0ull;
    bits[to] |= tail;
}

static const ull *as_bits(Container c, const unsigned short *restrict data, ull *restrict own) {
    if (c.kind == BITS)
        return (const ull *)(data + c.offset);
    memset(own, 0, WORDS * sizeof(ull));
    const unsigned short *runs = data + c.offset;
    for (int r = 0; r < c.size; r++)
        set_range(own, runs[2 * r], (uint)runs[2 * r] + runs[2 * r + 1]);
    return own;
}

static int both_lists(const unsigned short *restrict a, int m, const unsigned short *restrict b, int n,
                      unsigned short *restrict out) {
    int i = 0, j = 0, count = 0;
    while (i < m && j < n) {
        unsigned short x = a[i], y = b[j];
        out[count] = x;
        count += x == y;
        i += x <= y;
        j += y <= x;
    }
    return count;
}

void run(const Container *restrict a, const unsigned short *restrict a_data, const Container *restrict b,
         const unsigned short *restrict b_data, const int2 *restrict pairs, ull *restrict result,
         int *restrict cardinality, ull *restrict total, int count) {
    ull own[WORDS], other[WORDS];
    for (int p = 0; p < count; p++) {
        Container left = a[pairs[p].x], right = b[pairs[p].y];
        const unsigned short *left_data = a_data, *right_data = b_data;
        unsigned short list[LIST_LIMIT + 1];
        ull *target = result + (long)p * WORDS;
        int found = 0;
        if (left.kind != LIST && right.kind == LIST) {
            Container c = left;
            left = right, right = c;
            left_data = b_data, right_data = a_data;
        }
        if (left.kind == LIST) {
            const unsigned short *members = left_data + left.offset;
            if (right.kind == LIST)
                found = both_lists(members, left.size, right_data + right.offset, right.size, list);
            else {
                const ull *bits = as_bits(right, right_data, other);
                for (int i = 0; i < left.size; i++) {
                    list[found] = members[i];
                    found += bits[members[i] >> 6] >> (members[i] & 63) & 1;
                }
            }
            memcpy(target, list, found * sizeof *list);
        } else {
            const ull *x = as_bits(left, left_data, own), *y = as_bits(right, right_data, other);
            ull made[WORDS];
            for (int w = 0; w < WORDS; w++) {
                made[w] = x[w] & y[w];
                found += __builtin_popcountll(made[w]);
            }
            if (found <= LIST_LIMIT) {
                unsigned short *to = (unsigned short *)target;
                for (int w = 0; w < WORDS; w++)
                    for (ull rest = made[w]; rest; rest &= rest - 1)
                        *to++ = w * 64 + __builtin_ctzll(rest);
            } else
                memcpy(target, made, sizeof made);
        }
        cardinality[p] = found;
        *total += found;
    }
}
