// Latent attention of one token a sequence: the cached rows serve as keys and as values of all heads.
#include "native.h"
#include <immintrin.h>

enum { LATENT = 512, ROPE = 64, WIDE = LATENT + ROPE, TILE = 16, HEADS = 64 };

void run(const float *restrict q_latent, const float *restrict q_rope, const uint16_t *restrict cache,
         const int *restrict page_table, const int *restrict seq_len, _Float16 *restrict out, int heads, int seqs,
         int page_size, int max_pages, float scale) {
    float(*acc)[LATENT] = malloc(heads * sizeof *acc);
    float rows[TILE][WIDE], m[HEADS], l[HEADS];
    for (int s = 0; s < seqs; s++) {
        memset(acc, 0, heads * sizeof *acc);
        for (int h = 0; h < heads; h++)
            m[h] = -INFINITY, l[h] = 0;
        for (int first = 0; first < seq_len[s]; first += TILE) {
            int count = MIN(TILE, seq_len[s] - first);
            for (int t = 0; t < count; t++) {
                int token = first + t;
                const uint16_t *row = cache + ((size_t)page_table[s * max_pages + token / page_size] * page_size +
                                               token % page_size) * WIDE;
                for (int i = 0; i < WIDE; i += 8)
                    _mm256_storeu_ps(rows[t] + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(row + i))));
            }
            for (int h = 0; h < heads; h++) {
                const float *ql = q_latent + ((size_t)s * heads + h) * LATENT;
                const float *qr = q_rope + ((size_t)s * heads + h) * ROPE;
                float score[TILE], most = m[h], *restrict a = acc[h];
                for (int t = 0; t < count; t++) {
                    float sum = 0;
#pragma omp simd reduction(+ : sum)
                    for (int i = 0; i < LATENT; i++)
                        sum += ql[i] * rows[t][i];
#pragma omp simd reduction(+ : sum)
                    for (int i = 0; i < ROPE; i++)
                        sum += qr[i] * rows[t][LATENT + i];
                    score[t] = sum * scale;
                    most = MAX(most, score[t]);
                }
                float correction = expf(m[h] - most);
                l[h] *= correction;
                for (int t = 0; t < count; t++) {
                    score[t] = expf(score[t] - most);
                    l[h] += score[t];
                }
                for (int t = count; t < TILE; t++)
                    score[t] = 0;
                if (count == TILE) {
#pragma omp simd
                    for (int i = 0; i < LATENT; i++) {
                        float sum = a[i] * correction;
#pragma GCC unroll 16
                        for (int t = 0; t < TILE; t++)
                            sum += score[t] * rows[t][i];
                        a[i] = sum;
                    }
                } else {
                    for (int i = 0; i < LATENT; i++)
                        a[i] *= correction;
                    for (int t = 0; t < count; t++)
                        for (int i = 0; i < LATENT; i++)
                            a[i] += score[t] * rows[t][i];
                }
                m[h] = most;
            }
        }
        for (int h = 0; h < heads; h++)
            for (int i = 0; i < LATENT; i++)
                out[((size_t)s * heads + h) * LATENT + i] = acc[h][i] / l[h];
    }
    free(acc);
}
