#include "native.h"

enum { RANGE = 2048, KEEP = 16, POSTINGS = 64 };

typedef struct {
    uint doc;
    uchar tf, length_code, pad[2];
} Posting;

typedef struct {
    int first, count, first_block;
    float idf;
} Term;

static inline ull key_of(float score, uint doc) {
    uint bits;
    memcpy(&bits, &score, 4);
    return (ull)bits << 32 | (~0u - doc);
}

static inline float score_of(ull key) {
    uint bits = key >> 32;
    float score;
    memcpy(&score, &bits, 4);
    return score;
}

void run(const Posting *restrict postings, const Term *restrict terms, const float *restrict block_max,
         const int *restrict query_terms, const int *restrict query_start, float *restrict norms,
         uint *restrict best_docs, float *restrict best_scores, int docs, float k1, float b, float average,
         int queries) {
    for (int i = 0; i < 256; i++) {
        float length = i < 40 ? i : 40 * (1 + (i - 40) * 0.05f);
        norms[i] = k1 * (1 - b + b * length / average);
    }
    for (int q = 0; q < queries; q++) {
        const int *mine = query_terms + query_start[q];
        int count = query_start[q + 1] - query_start[q], from[8], to[8];
        ull kept[KEEP] = {0};
        float scores[RANGE];
        for (int i = 0; i < count; i++)
            to[i] = terms[mine[i]].first;
        for (uint base = 0; base < (uint)docs; base += RANGE) {
            float possible = 0, threshold = score_of(kept[KEEP - 1]);
            for (int i = 0; i < count; i++) {
                Term t = terms[mine[i]];
                int low = from[i] = to[i], high = t.first + t.count;
                while (low < high) {
                    int mid = (low + high) >> 1;
                    if (postings[mid].doc < base + RANGE)
                        low = mid + 1;
                    else
                        high = mid;
                }
                to[i] = low;
                float bound = 0;
                if (from[i] < low)
                    for (int k = (from[i] - t.first) / POSTINGS; k <= (low - 1 - t.first) / POSTINGS; k++)
                        bound = MAX(bound, block_max[t.first_block + k]);
                possible += bound;
            }
            if (possible <= threshold)
                continue;
            memset(scores, 0, sizeof scores);
            for (int i = 0; i < count; i++) {
                float idf = terms[mine[i]].idf;
                for (int p = from[i]; p < to[i]; p++) {
                    float tf = postings[p].tf;
                    scores[postings[p].doc - base] += idf * tf * (k1 + 1) / (tf + norms[postings[p].length_code]);
                }
            }
            for (int i = 0; i < RANGE; i++)
                if (scores[i] > threshold) {
                    ull key = key_of(scores[i], base + i);
                    if (key > kept[KEEP - 1]) {
                        int at = KEEP - 1;
                        for (; at > 0 && kept[at - 1] < key; at--)
                            kept[at] = kept[at - 1];
                        kept[at] = key;
                        threshold = score_of(kept[KEEP - 1]);
                    }
                }
        }
        for (int i = 0; i < KEEP; i++) {
            best_docs[q * KEEP + i] = kept[i] ? ~0u - (uint)kept[i] : ~0u;
            best_scores[q * KEEP + i] = score_of(kept[i]);
        }
    }
}
