// Logits with penalties, temperature and a mask of bits to probabilities; the best token and the number allowed.
#include "native.h"

static inline __attribute__((always_inline)) float masked(float *restrict r, uint bits, float inverse, int end) {
    float most = -INFINITY;
#pragma omp simd reduction(max : most)
    for (int i = 0; i < end; i++) {
        float v = bits >> i & 1 ? r[i] * inverse : -INFINITY;
        r[i] = v;
        most = v > most ? v : most;
    }
    return most;
}

void run(float *restrict logits, const int *restrict history, const int *restrict history_len,
         const float *restrict penalty, const uint *restrict bitmask, const int *restrict grammar,
         const float *restrict temperature, int *restrict token, float *restrict logprob, int *restrict allowed,
         int max_history, int vocab, int words, int seqs) {
    for (int s = 0; s < seqs; s++) {
        float *row = logits + (size_t)s * vocab, p = penalty[s];
        const int *h = history + s * max_history;
        for (int i = 0; i < history_len[s]; i++) {
            int seen = 0;
            for (int j = 0; j < i && !seen; j++)
                seen = h[j] == h[i];
            if (!seen)
                row[h[i]] = row[h[i]] > 0 ? row[h[i]] / p : row[h[i]] * p;
        }
        const uint *mask = grammar[s] < 0 ? 0 : bitmask + (size_t)grammar[s] * words;
        float inverse = 1 / temperature[s], most = -INFINITY, sum = 0;
        int count = 0, best = 0;
        for (int w = 0; w < words; w++) {
            uint bits = mask ? mask[w] : ~0u;
            int end = MIN(32, vocab - 32 * w);
            if (end < 32)
                bits &= (1u << end) - 1;
            count += __builtin_popcount(bits);
            float here = end == 32 ? masked(row + 32 * w, bits, inverse, 32) : masked(row + 32 * w, bits, inverse, end);
            if (here > most) {
                most = here;
                best = 32 * w;
            }
        }
        while (row[best] != most)
            best++;
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < vocab; i++) {
            float d = row[i] - most, e = expf(d > -87 ? d : -87);  // vectors of expf are slow with infinities
            row[i] = d >= -87 ? e : 0;
            sum += row[i];
        }
        float share = 1 / sum;
#pragma omp simd
        for (int i = 0; i < vocab; i++)
            row[i] *= share;
        token[s] = best;
        logprob[s] = -logf(sum);
        allowed[s] = count;
    }
}
