// Cuckoo hashing with four functions and a stash, one pair after the other.
#include "native.h"
enum { FUNCTIONS = 4, STASH = 101, MAX_MOVES = 100 };
#define EMPTY (~0ull)

static const uint A[FUNCTIONS] = {0x9e3779b1u, 0x85ebca77u, 0xc2b2ae3du, 0x27d4eb2fu};
static const uint B[FUNCTIONS] = {0x165667b1u, 0x2545f491u, 0x4f6cdd1du, 0x1b873593u};

static inline uint place_of(uint key, int f, uint slots) {
    return (uint)(((ull)A[f] * key + B[f]) % 4294967291ull) % slots;
}

void run(const uint *restrict keys, const uint *restrict values, const uint *restrict queries,
         uint *restrict failures, uint *restrict found, uint slots, uint n, uint asked) {
    ull *restrict table = malloc(slots * sizeof(ull)), stash[STASH];
    memset(table, 0xff, slots * sizeof(ull));
    memset(stash, 0xff, sizeof stash);
    for (uint i = 0; i < n; i++) {
        ull pair = (ull)keys[i] << 32 | values[i];
        uint place = place_of(keys[i], 0, slots);
        for (int move = 0; move < MAX_MOVES; move++) {
            ull other = table[place];
            table[place] = pair;
            pair = other;
            if (pair == EMPTY)
                break;
            uint key = pair >> 32, first = place_of(key, 0, slots), next = first, at = first;
            for (int f = 1; f < FUNCTIONS; f++) {
                uint after = place_of(key, f, slots);
                if (at == place) {
                    next = after;
                    break;
                }
                at = after;
            }
            place = next;
        }
        if (pair == EMPTY)
            continue;
        uint slot = (uint)(pair >> 32) % STASH, k = 0;
        while (k < STASH && stash[slot] != EMPTY) {
            slot = (slot + 1) % STASH;
            k++;
        }
        if (k < STASH)
            stash[slot] = pair;
        else
            ++*failures;
    }
    for (uint i = 0; i < asked; i++) {
        uint key = queries[i], result = ~0u;
        for (int f = 0; f < FUNCTIONS; f++) {
            ull pair = table[place_of(key, f, slots)];
            if (pair >> 32 == key) {
                result = (uint)pair;
                goto done;
            }
        }
        for (uint k = 0, slot = key % STASH; k < STASH && stash[slot] != EMPTY; k++, slot = (slot + 1) % STASH)
            if (stash[slot] >> 32 == key) {
                result = (uint)stash[slot];
                break;
            }
    done:
        found[i] = result;
    }
    free(table);
}
