// The spectrum of canonical 21-mers: a table with open addressing, then a histogram of its counts.
#include "native.h"

enum { K = 21, BINS = 64 };

static inline ull mix(ull k) {
    k ^= k >> 33;
    k *= 0xff51afd7ed558ccdull;
    k ^= k >> 33;
    k *= 0xc4ceb9fe1a85ec53ull;
    return k ^ k >> 33;
}

void run(const uint *restrict packed, const uint *restrict unsure, const uint16_t *restrict lengths,
         ull *restrict keys, uint *restrict counts, uint *restrict spectrum, int reads, int words, uint slots) {
    const ull whole = (1ull << 2 * K) - 1;
    memset(keys, 0xff, (size_t)slots * 8);
    memset(counts, 0, (size_t)slots * 4);
    for (int r = 0; r < reads; r++) {
        const uint *bases = packed + (size_t)r * words, *masked = unsure + (size_t)r * ((words + 1) / 2);
        ull forward = 0, backward = 0;
        int valid = 0;
        for (int i = 0; i < lengths[r]; i++) {
            if (masked[i / 32] >> i % 32 & 1) {
                valid = 0;
                continue;
            }
            ull base = bases[i / 16] >> 2 * (i % 16) & 3;
            forward = (forward << 2 | base) & whole;
            backward = backward >> 2 | (3 - base) << 2 * (K - 1);
            if (++valid < K)
                continue;
            ull kmer = MIN(forward, backward);
            uint slot = mix(kmer) & (slots - 1);
            while (keys[slot] != ~0ull && keys[slot] != kmer)
                slot = (slot + 1) & (slots - 1);
            keys[slot] = kmer;
            counts[slot]++;
        }
    }
    for (uint i = 0; i < slots; i++)
        if (counts[i])
            spectrum[MIN(counts[i], BINS - 1)]++;
}
