// Intervals of curves halved until each is nearly straight, breadth first.
#include "native.h"

typedef struct {
    float from, to;
    uint key;
} item;

static inline float curve(float x, uint key) {
    float a = 1.0f + (key & 7), b = 0.125f * (key >> 3 & 7);
    return fmaf(x, fmaf(x, fmaf(-x, fmaf(x, 0.25f * b, 0.5f), b), a), 1.0f);
}

void run(const float *restrict spans, ull *restrict packed, uint *restrict lists, int n, int rounds, float limit,
         uint room) {
    item *open = malloc(3 * room * sizeof(item)), *next = open + room, *closed = next + room, *all = open;
    uint count = n, done = 0;
    for (int i = 0; i < n; i++)
        open[i] = (item){spans[2 * i], spans[2 * i + 1], (uint)i << 6 | i % 61};
    for (int r = 0; r < rounds; r++) {
        uint more = 0;
        for (uint i = 0; i < count; i++) {
            item it = open[i];
            float middle = 0.5f * (it.from + it.to);
            float bend = fabsf(0.5f * (curve(it.from, it.key) + curve(it.to, it.key)) - curve(middle, it.key));
            if (bend > limit) {
                next[more++] = (item){it.from, middle, it.key};
                next[more++] = (item){middle, it.to, it.key};
            } else
                closed[done++] = it;
        }
        item *swap = open;
        open = next;
        next = swap;
        count = more;
    }
    for (uint i = 0; i < room; i++)
        packed[i] = i < done ? (ull)(closed[i].key >> 6) << 32 | (uint)(closed[i].from * 1048576.0f) : 0;
    free(all);
    lists[0] = count, lists[1] = done, lists[2] = lists[3] = 0;
}
