// GHASH by a table of 16 multiples of the key, message by message.
#include "native.h"

typedef struct {
    ull high, low;
} Block;

static const ull remainders[16] = {
    0x0000ull << 48, 0x1c20ull << 48, 0x3840ull << 48, 0x2460ull << 48, 0x7080ull << 48, 0x6ca0ull << 48,
    0x48c0ull << 48, 0x54e0ull << 48, 0xe100ull << 48, 0xfd20ull << 48, 0xd940ull << 48, 0xc560ull << 48,
    0x9180ull << 48, 0x8da0ull << 48, 0xa9c0ull << 48, 0xb5e0ull << 48};

static inline Block step(Block z, Block t) {
    ull rest = remainders[z.low & 15];
    return (Block){z.high >> 4 ^ rest ^ t.high, (z.high << 60 | z.low >> 4) ^ t.low};
}

static inline Block multiply(Block x, const Block *restrict table) {
    Block z = table[x.low & 15];
    for (int i = 4; i < 64; i += 4)
        z = step(z, table[x.low >> i & 15]);
    for (int i = 0; i < 64; i += 4)
        z = step(z, table[x.high >> i & 15]);
    return z;
}

static inline Block take(Block y, const uchar *p) {
    ull words[2];
    memcpy(words, p, 16);
    return (Block){y.high ^ __builtin_bswap64(words[0]), y.low ^ __builtin_bswap64(words[1])};
}

void run(const uchar *restrict data, const long *restrict offsets, const int *restrict aad_bytes,
         const int *restrict text_bytes, const ull *restrict key, const uchar *restrict masks, uchar *restrict tags,
         int messages) {
    Block table[16] = {{0, 0}}, h = {key[0], key[1]};
    table[8] = h;
    for (int i = 4; i; i >>= 1) {
        h = (Block){h.high >> 1 ^ (h.low & 1 ? 0xe1ull << 56 : 0), h.high << 63 | h.low >> 1};
        table[i] = h;
    }
    for (int i = 2; i < 16; i <<= 1)
        for (int j = 1; j < i; j++)
            table[i + j] = (Block){table[i].high ^ table[j].high, table[i].low ^ table[j].low};
    for (int m = 0; m < messages; m++) {
        const uchar *p = data + offsets[m];
        int lengths[2] = {aad_bytes[m], text_bytes[m]};
        Block y = {0, 0};
        for (int part = 0; part < 2; part++) {
            int left = lengths[part];
            for (; left >= 16; left -= 16, p += 16)
                y = multiply(take(y, p), table);
            if (left) {
                uchar padded[16] = {0};
                memcpy(padded, p, left);
                y = multiply(take(y, padded), table);
                p += 16;
            }
        }
        y.high ^= lengths[0] * 8ull;
        y.low ^= lengths[1] * 8ull;
        y = multiply(y, table);
        ull tag[2] = {__builtin_bswap64(y.high), __builtin_bswap64(y.low)}, mask[2];
        memcpy(mask, masks + 16L * m, 16);
        tag[0] ^= mask[0];
        tag[1] ^= mask[1];
        memcpy(tags + 16L * m, tag, 16);
    }
}
