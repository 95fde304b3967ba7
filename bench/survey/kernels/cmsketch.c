// Heavy hitters of a stream by a count-min sketch.
#include "native.h"

enum { DEPTH = 4, WIDTH = 1024 };
static const uint multiplier[DEPTH] = {0x9e3779b1u, 0x85ebca77u, 0xc2b2ae3du, 0x27d4eb2fu};

static inline uint slot(int row, uint key) {
    return row * WIDTH + (((key ^ key >> 15) * multiplier[row]) >> 22);
}

void run(const uint *restrict stream, uint *restrict sketch, uint *restrict heaviest, uint *restrict claimed,
         uint *restrict first_seen, ull *restrict hitters, uint *restrict found, uint threshold, uint room, int n) {
    uint most = *heaviest;
    for (int i = 0; i < n; i++) {
        uint key = stream[2 * i], weight = stream[2 * i + 1];
        most = MAX(most, weight);
        for (int row = 0; row < DEPTH; row++)
            sketch[slot(row, key)] += weight;
    }
    *heaviest = most;
    uint count = *found;
    for (int i = 0; i < n; i++) {
        uint key = stream[2 * i], estimate = ~0u;
        for (int row = 0; row < DEPTH; row++)
            estimate = MIN(estimate, sketch[slot(row, key)]);
        if (estimate < threshold)
            continue;
        first_seen[key] = MIN(first_seen[key], (uint)i);
        if (claimed[key / 32] >> key % 32 & 1)
            continue;
        claimed[key / 32] |= 1u << key % 32;
        if (count < room)
            hitters[count] = (ull)key << 32 | estimate;
        count++;
    }
    *found = count;
}
