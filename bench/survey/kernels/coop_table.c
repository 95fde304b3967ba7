// A hash table in groups of eight slots of 64 bits, key and value; the greatest value of a key stays
#include "native.h"

static inline uint mixed(uint k) {
    k = (k ^ (k >> 16)) * 0x7feb352du;
    k = (k ^ (k >> 15)) * 0x846ca68bu;
    return k ^ (k >> 16);
}

void run(const uint *restrict keys, const uint *restrict values, const uint *restrict queries, uint *restrict found,
         uint *restrict failed, uint mask, int n, int count) {
    uint slots = (mask + 1) * 8;
    ull *table = malloc(slots * sizeof(ull));
    memset(table, 0xff, slots * sizeof(ull));
    for (int i = 0; i < n; i++) {
        uint key = keys[i], at = (mixed(key) & mask) * 8, tried = 0;
        ull pair = (ull)key << 32 | values[i];
        while (table[at] != ~0ull && table[at] >> 32 != key && ++tried < slots)
            at = (at + 1) & (slots - 1);
        if (tried == slots)
            ++*failed;
        else if (table[at] == ~0ull || table[at] < pair)
            table[at] = pair;
    }
    for (int i = 0; i < count; i++) {
        uint key = queries[i], start = (mixed(key) & mask) * 8, at = start, tried = 0;
        while (table[at] != ~0ull && table[at] >> 32 != key && ++tried < slots)
            at = (at + 1) & (slots - 1);
        found[2 * i] = tried < slots && table[at] >> 32 == key && table[at] != ~0ull ? (uint)table[at] : ~0u;
        found[2 * i + 1] = found[2 * i] == ~0u ? tried / 8 + 1 : 0;
    }
    free(table);
}
