// The most similar fingerprints to each query: a heap of eight.
#include "native.h"
enum { WORDS = 16, BEST = 8 };

typedef struct {
    float score;
    int id;
} Hit;

static inline int worse(Hit a, Hit b) { return a.score < b.score || (a.score == b.score && a.id > b.id); }

void run(const ull *restrict prints, unsigned short *restrict weights, const ull *restrict queries,
         Hit *restrict best, int count, int asked, float least) {
    for (int id = 0; id < count; id++) {
        int bits = 0;
        for (int w = 0; w < WORDS; w++)
            bits += __builtin_popcountll(prints[(size_t)id * WORDS + w]);
        weights[id] = bits;
    }
    for (int n = 0; n < asked; n++) {
        const ull *q = queries + n * WORDS;
        Hit heap[BEST];
        int a = 0;
        for (int w = 0; w < WORDS; w++)
            a += __builtin_popcountll(q[w]);
        for (int k = 0; k < BEST; k++)
            heap[k] = (Hit){-1, 0x7fffffff};
        for (int id = 0; id < count; id++) {
            int b = weights[id], common = 0;
            if (MIN(a, b) < least * MAX(a, b))
                continue;
            for (int w = 0; w < WORDS; w++)
                common += __builtin_popcountll(prints[(size_t)id * WORDS + w] & q[w]);
            Hit hit = {(float)common / (float)(a + b - common), id};
            if (hit.score < least || !worse(heap[0], hit))
                continue;
            int at = 0;
            for (int child; (child = 2 * at + 1) < BEST; at = child) {
                if (child + 1 < BEST && worse(heap[child + 1], heap[child]))
                    child++;
                if (!worse(heap[child], hit))
                    break;
                heap[at] = heap[child];
            }
            heap[at] = hit;
        }
        Hit *out = best + n * BEST;
        for (int k = 0; k < BEST; k++) {
            int at = k;
            for (; at > 0 && worse(out[at - 1], heap[k]); at--)
                out[at] = out[at - 1];
            out[at] = heap[k];
        }
    }
}
