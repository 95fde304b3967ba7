#include "native.h"

typedef struct {
    int line_size, sets, ways, policy;
} Config;

typedef struct {
    int hits, misses, evictions, writebacks;
} Stats;

// Tags are numbers of blocks + 1, 0 in a way that is empty; an empty way is after all others of its set.
void run(const uint *restrict trace, const Config *restrict configs, Stats *restrict stats, int length, int n,
         int max_lines) {
    uint *restrict tags = malloc(max_lines * sizeof *tags);
    int *restrict stamps = malloc(max_lines * sizeof *stamps);
    uchar *restrict dirty = malloc(max_lines);
    for (int i = 0; i < n; i++) {
        Config c = configs[i];
        memset(tags, 0, c.sets * c.ways * sizeof *tags);
        Stats s = {0};
        uint seed = 12345;
        for (int t = 0; t < length; t++) {
            uint block = (trace[t] >> 1) / c.line_size, write = trace[t] & 1, tag = block + 1;
            int first = block % c.sets * c.ways, w = 0;
            while (w < c.ways && tags[first + w] && tags[first + w] != tag)
                w++;
            int at = first + w;
            if (w < c.ways && tags[at]) {
                s.hits++;
                stamps[at] = c.policy ? stamps[at] : t;
                dirty[at] |= write;
                continue;
            }
            s.misses++;
            if (w == c.ways) {
                s.evictions++;
                if (c.policy == 2) {
                    seed = seed * 1103515245u + 12345u;
                    at = first + (seed >> 16) % c.ways;
                } else {
                    at = first;
                    for (w = 1; w < c.ways; w++)
                        at = stamps[first + w] < stamps[at] ? first + w : at;
                }
                s.writebacks += dirty[at];
            }
            tags[at] = tag, dirty[at] = write, stamps[at] = t;
        }
        stats[i] = s;
    }
    free(tags);
    free(stamps);
    free(dirty);
}
