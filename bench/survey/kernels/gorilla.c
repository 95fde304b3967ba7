#include "native.h"

typedef struct {
    const uint64_t *words;
    uint64_t at;
} Bits;

static inline uint64_t take(Bits *in, int n) {
    uint64_t w = in->at >> 6;
    int off = in->at & 63;
    uint64_t v = in->words[w] << off | (in->words[w + 1] >> 1) >> (63 - off);
    in->at += n;
    return v >> (64 - n);
}

static inline int64_t take_signed(Bits *in, int n) {
    return (int64_t)(take(in, n) << (64 - n)) >> (64 - n);
}

void run(const uint64_t *restrict stream, const uint64_t *restrict start, int64_t *restrict time,
         double *restrict value, int blocks, int each) {
    static const uchar sizes[5] = {0, 7, 9, 12, 32};
    for (int b = 0; b < blocks; b++) {
        Bits in = {stream, start[b]};
        int64_t t = take(&in, 64), delta = 0;
        uint64_t bits = take(&in, 64);
        int leading = 0, length = 64;
        int64_t *restrict to = time + (size_t)b * each;
        double *restrict values = value + (size_t)b * each;
        to[0] = t;
        memcpy(values, &bits, 8);
        for (int i = 1; i < each; i++) {
            int kind = 0;
            while (kind < 4 && take(&in, 1))
                kind++;
            if (kind)
                delta += take_signed(&in, sizes[kind]);
            t += delta;
            if (take(&in, 1)) {
                if (take(&in, 1)) {
                    leading = take(&in, 5);
                    length = take(&in, 6) + 1;
                }
                bits ^= take(&in, length) << (64 - leading - length);
            }
            to[i] = t;
            memcpy(values + i, &bits, 8);
        }
    }
}
