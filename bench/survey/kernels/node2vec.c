// Walks of node2vec, one after the other.
#include "native.h"

static inline uint next_of(ull *state, ull inc) {
    ull old = *state;
    *state = old * 6364136223846793005ull + inc;
    uint shifted = ((old >> 18) ^ old) >> 27, rot = old >> 59;
    return shifted >> rot | shifted << (-rot & 31);
}

static inline uint below(ull *state, ull inc, uint n) { return (ull)next_of(state, inc) * n >> 32; }

static inline int has_edge(const int *restrict list, long n, int v) {
    const int *at = list;
    while (n > 1) {
        long half = n / 2;
        at = at[half] <= v ? at + half : at;
        n -= half;
    }
    return n && *at == v;
}

void run(const long long *restrict indptr, const int *restrict indices, const int *restrict starts,
         int *restrict walks, int *restrict visits, int num_walks, int length, float p, float q, ull seed) {
    float one_p = 1 / p, one_q = 1 / q, top = fmaxf(fmaxf(one_p, 1), one_q), sure = fminf(1, one_q);
    for (int walk = 0; walk < num_walks; walk++) {
        ull state = 0, inc = (ull)walk << 1 | 1;
        next_of(&state, inc);
        state += seed;
        next_of(&state, inc);
        int *out = walks + (long)walk * (length + 1), prev = -1, cur = starts[walk];
        out[0] = cur;
        for (int step = 1; step <= length; step++) {
            const int *list = indices + indptr[cur];
            int degree = indptr[cur + 1] - indptr[cur], next;
            if (!degree) {
                for (; step <= length; step++)
                    out[step] = -1;
                break;
            }
            if (prev < 0 || degree == 1)
                next = list[below(&state, inc, degree)];
            else
                for (;;) {
                    next = list[below(&state, inc, degree)];
                    float r = (next_of(&state, inc) >> 8) * (1 / 16777216.0f) * top;
                    if (next == prev) {
                        if (r < one_p)
                            break;
                    } else if (r < sure)
                        break;
                    else if (r < (has_edge(indices + indptr[prev], indptr[prev + 1] - indptr[prev], next) ? 1 : one_q))
                        break;
                }
            out[step] = next;
            visits[next]++;
            prev = cur;
            cur = next;
        }
    }
}
