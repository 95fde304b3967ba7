// Golomb rulers counted.
#include "native.h"

static ull found, nodes;

static void search(ull distances, ull list, int room, int left, int least) {
    // `left` marks after the next one
    int most = room - least;
    for (int gap = 1; gap <= most; gap++) {
        ull more = list << gap | 1ull << (gap - 1);
        if (more & distances)
            continue;
        nodes++;
        if (left == 0)
            found++;
        else
            search(distances | more, more, room - gap, left - 1, least - left);
    }
}

void run(ull *restrict totals, int marks, int longest) {
    found = nodes = 0;
    int left = marks - 2;
    search(0, 0, longest, left, left * (left + 1) / 2);
    totals[0] += found;
    totals[1] += nodes;
}
