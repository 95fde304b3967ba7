// The range of a sliding window over many series, by two monotonic queues.
#include "native.h"

enum { N = 64 };

typedef struct {
    int when;
    short value;
} sample;

void run(const short *restrict series, int *restrict range, int count, int length, int window) {
    for (int s = 0; s < count; s++) {
        const short *in = series + (size_t)s * length;
        int *out = range + (size_t)s * length;
        sample high[N], low[N];
        uint hh = 0, ht = 0, lh = 0, lt = 0;
        for (int t = 0; t < length; t++) {
            short v = in[t];
            while (hh != ht && high[(ht - 1) % N].value <= v)
                ht--;
            high[ht++ % N] = (sample){t, v};
            hh += high[hh % N].when <= t - window;
            while (lh != lt && low[(lt - 1) % N].value >= v)
                lt--;
            low[lt++ % N] = (sample){t, v};
            lh += low[lh % N].when <= t - window;
            out[t] = high[hh % N].value - low[lh % N].value;
        }
    }
}
