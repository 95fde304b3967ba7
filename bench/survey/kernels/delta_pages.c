// Decodes pages of bit-packed differences: the words of a mini-block are unpacked first, and then added up.
#include "native.h"
enum { PAGE = 256, MINI = 64 };

typedef struct {
    long long base;
    int min_delta;
    uint offset;
    uchar width[PAGE / MINI];
    uint count;
} PageHeader;

static inline void unpack(const uint *restrict words, int width, uint *restrict values) {
    ull mask = (1ull << width) - 1, buffer = 0;
    int have = 0;
    for (int i = 0; i < MINI; i++) {
        if (have < width) {
            buffer |= (ull)*words++ << have;
            have += 32;
        }
        values[i] = buffer & mask;
        buffer >>= width;
        have -= width;
    }
}

void run(const PageHeader *restrict headers, const uint *restrict words, long long *restrict out, int pages) {
    for (int p = 0; p < pages; p++) {
        PageHeader h = headers[p];
        const uint *at = words + h.offset;
        long long value = h.base;
        for (uint m = 0; m * MINI < h.count; m++) {
            uint values[MINI] = {0};
            if (h.width[m] > 0)
                unpack(at, h.width[m], values);
            at += h.width[m] * (MINI / 32);
            uint end = MIN(MINI, h.count - m * MINI);
            for (uint i = 0; i < end; i++) {
                value += (long long)h.min_delta + values[i];
                out[(long)p * PAGE + m * MINI + i] = value;
            }
        }
    }
}
