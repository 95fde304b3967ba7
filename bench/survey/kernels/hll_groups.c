// How many different users each page has, about: HyperLogLog sketches.
#include "native.h"
enum { BITS = 6, REGISTERS = 1 << BITS };

typedef struct {
    uint64_t user;
    uint page, time;
} Event;

void run(const Event *restrict events, uint *restrict sketches, float *restrict estimates, int n, int pages, uint from,
         uint to) {
    uchar *registers = calloc(pages, REGISTERS);
    for (int i = 0; i < n; i++) {
        Event e = events[i];
        if (e.time < from || e.time >= to)
            continue;
        uint64_t x = e.user;
        x ^= x >> 33;
        x *= 0xff51afd7ed558ccdull;
        x ^= x >> 33;
        x *= 0xc4ceb9fe1a85ec53ull;
        x ^= x >> 33;
        uchar rank = __builtin_clzll(x << BITS | 1ull << (BITS - 1)) + 1;
        uchar *at = registers + e.page * REGISTERS + (x >> (64 - BITS));
        if (rank > *at)
            *at = rank;
    }
    for (int page = 0; page < pages; page++) {
        float sum = 0, m = REGISTERS;
        int empty = 0;
        for (int i = 0; i < REGISTERS; i++) {
            uint rank = registers[page * REGISTERS + i];
            sketches[page * REGISTERS + i] = rank;
            sum += 1.0f / (1ull << rank);
            empty += rank == 0;
        }
        float estimate = 0.709f * m * m / sum;
        if (estimate <= 2.5f * m && empty > 0)
            estimate = m * logf(m / empty);
        estimates[page] = estimate;
    }
    free(registers);
}
