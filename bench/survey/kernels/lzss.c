#include "native.h"

// LZSS on chunks: matches of all bytes, eight bytes at once, then the code.
enum { CHUNK = 2048, WINDOW = 128, LEAST = 3, MOST = 18 };

static inline int same(const uchar *a, const uchar *b) {
    for (int k = 0; k < 24; k += 8) {
        ull x, y;
        memcpy(&x, a + k, 8);
        memcpy(&y, b + k, 8);
        if (x != y)
            return k + __builtin_ctzll(x ^ y) / 8;
    }
    return 24;
}

void run(const uchar *restrict in, uchar *restrict matches, uchar *restrict out, int *restrict total, int n) {
    uchar text[CHUNK + 32] = {0};
    int size = 0;
    for (int base = 0; base < n; base += CHUNK) {
        int length = MIN(CHUNK, n - base), bit = 8, flags_at = 0;
        uchar *m = matches + 2 * (size_t)base;
        memcpy(text, in + base, length);
        for (int pos = 0; pos < length; pos++) {
            int best = 0, where = 0, limit = MIN(MOST, length - pos), farthest = MIN(pos, WINDOW);
            for (int off = 1; off <= farthest; off++) {
                const uchar *from = text + pos - off;
                if (from[best] != text[pos + best])
                    continue;
                int k = same(text + pos, from);
                k = MIN(k, limit);
                if (k > best) {
                    best = k;
                    where = off;
                    if (best == limit)
                        break;
                }
            }
            m[2 * pos] = best;
            m[2 * pos + 1] = where;
        }
        for (int pos = 0; pos < length; bit++) {
            if (bit == 8) {
                flags_at = size++;
                out[flags_at] = bit = 0;
            }
            int k = m[2 * pos];
            if (k >= LEAST) {
                out[flags_at] |= 1 << bit;
                out[size++] = k - LEAST;
                out[size++] = m[2 * pos + 1] - 1;
                pos += k;
            } else
                out[size++] = text[pos++];
        }
    }
    *total = size;
}
