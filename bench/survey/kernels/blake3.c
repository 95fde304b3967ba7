// BLAKE3 of one message, sixteen chunks side by side, then the tree.
#include "native.h"

enum { W = 16 };

static const uint IV[8] = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                           0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
static const uint8_t ORDER[7][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8},
    {3, 4, 10, 12, 13, 2, 7, 14, 6, 5, 9, 0, 11, 15, 8, 1}, {10, 7, 12, 9, 14, 3, 13, 15, 4, 0, 11, 2, 5, 8, 1, 6},
    {12, 13, 9, 11, 15, 10, 14, 8, 7, 2, 5, 3, 0, 1, 6, 4}, {9, 14, 11, 5, 8, 12, 15, 1, 13, 3, 0, 10, 2, 6, 4, 7},
    {11, 15, 5, 0, 1, 9, 8, 6, 14, 10, 2, 12, 3, 4, 7, 13}};

typedef uint Lanes __attribute__((vector_size(4 * W)));

#define ROTR(v, n) ((v) >> (n) | (v) << (32 - (n)))
#define G(a, b, c, d, x, y)                                                                                            \
    s[a] += s[b] + m[x], s[d] ^= s[a], s[d] = ROTR(s[d], 16), s[c] += s[d], s[b] ^= s[c], s[b] = ROTR(s[b], 12),       \
        s[a] += s[b] + m[y], s[d] ^= s[a], s[d] = ROTR(s[d], 8), s[c] += s[d], s[b] ^= s[c], s[b] = ROTR(s[b], 7)
#define ROUNDS                                                                                                         \
    _Pragma("GCC unroll 7") for (int r = 0; r < 7; r++) {                                                              \
        const uint8_t *o = ORDER[r];                                                                                   \
        G(0, 4, 8, 12, o[0], o[1]);                                                                                    \
        G(1, 5, 9, 13, o[2], o[3]);                                                                                    \
        G(2, 6, 10, 14, o[4], o[5]);                                                                                   \
        G(3, 7, 11, 15, o[6], o[7]);                                                                                   \
        G(0, 5, 10, 15, o[8], o[9]);                                                                                   \
        G(1, 6, 11, 12, o[10], o[11]);                                                                                 \
        G(2, 7, 8, 13, o[12], o[13]);                                                                                  \
        G(3, 4, 9, 14, o[14], o[15]);                                                                                  \
    }

static void many(Lanes *cv, const Lanes *m, Lanes counter, uint flags) {
    Lanes s[16];
    for (int i = 0; i < 8; i++)
        s[i] = cv[i];
    for (int i = 0; i < 4; i++)
        s[8 + i] = (Lanes){0} + IV[i];
    s[12] = counter;
    s[13] = (Lanes){0};
    s[14] = (Lanes){0} + 64;
    s[15] = (Lanes){0} + flags;
    ROUNDS
    for (int i = 0; i < 8; i++)
        cv[i] = s[i] ^ s[i + 8];
}

static void one(uint *cv, const uint *m, uint counter, uint length, uint flags) {
    uint s[16];
    memcpy(s, cv, 32);
    memcpy(s + 8, IV, 16);
    s[12] = counter, s[13] = 0, s[14] = length, s[15] = flags;
    ROUNDS
    for (int i = 0; i < 8; i++)
        cv[i] = s[i] ^ s[i + 8];
}

void run(const uint8_t *restrict message, uint *restrict root, ull bytes, int chunks) {
    uint *nodes = malloc(chunks * 32);
    int chunk = 0;
    for (; (ull)(chunk + W) * 1024 <= bytes && chunk + W <= chunks; chunk += W) {
        const uint *from = (const uint *)(message + (size_t)chunk * 1024);
        Lanes cv[8], m[16], counter;
        for (int i = 0; i < 8; i++)
            cv[i] = (Lanes){0} + IV[i];
        for (int l = 0; l < W; l++)
            counter[l] = chunk + l;
        for (int b = 0; b < 16; b++) {
            for (int i = 0; i < 16; i++)
                for (int l = 0; l < W; l++)
                    ((uint *)&m[i])[l] = from[l * 256 + b * 16 + i];
            many(cv, m, counter, (b == 0) | (b == 15) << 1);
        }
        for (int l = 0; l < W; l++)
            for (int i = 0; i < 8; i++)
                nodes[(chunk + l) * 8 + i] = ((uint *)&cv[i])[l];
    }
    for (; chunk < chunks; chunk++) {
        int size = MIN(1024, bytes - (ull)chunk * 1024), blocks = MAX((size + 63) / 64, 1);
        memcpy(nodes + chunk * 8, IV, 32);
        for (int b = 0; b < blocks; b++) {
            uint m[16] = {0}, length = MIN(64, size - 64 * b);
            memcpy(m, message + (size_t)chunk * 1024 + b * 64, length);
            one(nodes + chunk * 8, m, chunk, length,
                (b == 0) | (b == blocks - 1) << 1 | (chunks == 1 && b == blocks - 1) << 3);
        }
    }
    for (int count = chunks; count > 1; count = (count + 1) / 2)
        for (int i = 0; 2 * i < count; i++) {
            uint cv[8];
            if (2 * i + 1 == count)
                memcpy(cv, nodes + 16 * i, 32);
            else {
                memcpy(cv, IV, 32);
                one(cv, nodes + 16 * i, 0, 64, 4 | (count == 2) << 3);
            }
            memcpy(nodes + 8 * i, cv, 32);
        }
    memcpy(root, nodes, 32);
    free(nodes);
}
