#include "native.h"

// K2 scores of all pairs of places in genomes, and the least.
static inline void count(const uint *restrict a, const uint *restrict b, int words, uint mask, int n[9]) {
    int c0 = 0, c1 = 0, c2 = 0, c3 = 0, c4 = 0, c5 = 0, c6 = 0, c7 = 0, c8 = 0;
#pragma omp simd reduction(+ : c0, c1, c2, c3, c4, c5, c6, c7, c8)
    for (int w = 0; w < words; w++) {
        uint valid = w == words - 1 ? mask : ~0u, a0 = a[w], a1 = a[words + w], a2 = ~(a0 | a1) & valid;
        uint b0 = b[w], b1 = b[words + w], b2 = ~(b0 | b1) & valid;
        c0 += __builtin_popcount(a0 & b0);
        c1 += __builtin_popcount(a0 & b1);
        c2 += __builtin_popcount(a0 & b2);
        c3 += __builtin_popcount(a1 & b0);
        c4 += __builtin_popcount(a1 & b1);
        c5 += __builtin_popcount(a1 & b2);
        c6 += __builtin_popcount(a2 & b0);
        c7 += __builtin_popcount(a2 & b1);
        c8 += __builtin_popcount(a2 & b2);
    }
    n[0] = c0, n[1] = c1, n[2] = c2, n[3] = c3, n[4] = c4, n[5] = c5, n[6] = c6, n[7] = c7, n[8] = c8;
}

void run(const uint *restrict ill, const uint *restrict well, const double *restrict log_factorial,
         double *restrict scores, ull *restrict best, int snps, int ill_words, int well_words, uint ill_mask,
         uint well_mask) {
    ull least = ~0ull;
    for (int i = 0; i < snps; i++)
        for (int j = i + 1; j < snps; j++) {
            int m[9], n[9];
            count(ill + (size_t)i * 2 * ill_words, ill + (size_t)j * 2 * ill_words, ill_words, ill_mask, m);
            count(well + (size_t)i * 2 * well_words, well + (size_t)j * 2 * well_words, well_words, well_mask, n);
            double score = 0;
            for (int k = 0; k < 9; k++)
                score += log_factorial[m[k] + n[k] + 1] - log_factorial[m[k]] - log_factorial[n[k]];
            scores[(size_t)i * snps + j] = score;
            float f = score;
            uint bits;
            memcpy(&bits, &f, 4);
            ull mine = (ull)bits << 32 | (uint)(i * snps + j);
            least = MIN(least, mine);
        }
    *best = least;
}
