#include "native.h"

static inline uint hashed(uint k) {
    k ^= k >> 16;
    k *= 0x85ebca6bu;
    k ^= k >> 13;
    k *= 0xc2b2ae35u;
    k ^= k >> 16;
    return k;
}

void run(const uint *restrict key, const uint *restrict value, const uint *restrict probe_key,
         const uint *restrict probe_value, uint *restrict table_key, uint *restrict table_value,
         ull *restrict result, uint *restrict matches, uint slots, int n, int probes) {
    memset(table_key, 0xff, slots * sizeof(uint));
    memset(table_value, 0, slots * sizeof(uint));
    for (int i = 0; i < n; i++) {
        uint k = key[i], slot = hashed(k) & (slots - 1);
        while (table_key[slot] != ~0u && table_key[slot] != k)
            slot = (slot + 1) & (slots - 1);
        table_key[slot] = k;
        table_value[slot] = value[i];
    }
    uint count = *matches;
    for (int i = 0; i < probes; i++) {
        uint k = probe_key[i], slot = hashed(k) & (slots - 1);
        while (table_key[slot] != ~0u && table_key[slot] != k)
            slot = (slot + 1) & (slots - 1);
        if (table_key[slot] == k)
            result[count++] = (ull)probe_value[i] << 32 | table_value[slot];
    }
    *matches = count;
}
