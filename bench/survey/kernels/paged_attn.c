// Attention of one token over pages of 16 keys [8][16][8] and values [64][16] in half precision.
#include "native.h"
#include <immintrin.h>

enum { D = 64, PAGE = 16 };

static void widen(const uint16_t *restrict from, float *restrict to) {
    for (int i = 0; i < D * PAGE; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(from + i))));
}

void run(const uint16_t *restrict q, const uint16_t *restrict k_cache, const uint16_t *restrict v_cache,
         const int *restrict tables, const int *restrict lens, const float *restrict slopes, uint16_t *restrict out,
         int seqs, int heads, int kv_heads, int max_pages, float scale) {
    float *logits = malloc((size_t)max_pages * PAGE * heads * sizeof(float)), page[D * PAGE];
    int share = heads / kv_heads;
    for (int s = 0; s < seqs; s++) {
        int len = lens[s], pages = (len + PAGE - 1) / PAGE, room = max_pages * PAGE;
        for (int kv = 0; kv < kv_heads; kv++) {
            float query[share][D], sum[share][D][PAGE];
            for (int r = 0; r < share; r++)
                for (int i = 0; i < D; i++)
                    query[r][i] = _cvtsh_ss(q[((size_t)s * heads + kv * share + r) * D + i]);
            for (int b = 0; b < pages; b++) {
                widen(k_cache + ((size_t)tables[s * max_pages + b] * kv_heads + kv) * D * PAGE, page);
                for (int r = 0; r < share; r++) {
                    float acc[PAGE][8] = {0};
                    for (int o = 0; o < D / 8; o++)
                        for (int t = 0; t < PAGE; t++)
#pragma omp simd
                            for (int e = 0; e < 8; e++)
                                acc[t][e] += query[r][o * 8 + e] * page[(o * PAGE + t) * 8 + e];
                    for (int t = 0; t < PAGE; t++) {
                        float v = 0;
                        for (int e = 0; e < 8; e++)
                            v += acc[t][e];
                        logits[r * room + b * PAGE + t] =
                            v * scale + slopes[kv * share + r] * (b * PAGE + t - len + 1);
                    }
                }
            }
            for (int r = 0; r < share; r++) {
                float *l = logits + r * room, most = -INFINITY, total = 0;
#pragma omp simd reduction(max : most)
                for (int i = 0; i < len; i++)
                    most = l[i] > most ? l[i] : most;
#pragma omp simd reduction(+ : total)
                for (int i = 0; i < len; i++) {
                    l[i] = expf(l[i] - most);
                    total += l[i];
                }
                float inverse = 1 / (total + 1e-6f);
                for (int i = 0; i < len; i++)
                    l[i] *= inverse;
                for (int i = len; i < pages * PAGE; i++)
                    l[i] = 0;
            }
            memset(sum, 0, sizeof sum);
            for (int b = 0; b < pages; b++) {
                widen(v_cache + ((size_t)tables[s * max_pages + b] * kv_heads + kv) * D * PAGE, page);
                for (int r = 0; r < share; r++)
                    for (int i = 0; i < D; i++)
#pragma omp simd
                        for (int t = 0; t < PAGE; t++)
                            sum[r][i][t] += logits[r * room + b * PAGE + t] * page[i * PAGE + t];
            }
            for (int r = 0; r < share; r++)
                for (int i = 0; i < D; i++) {
                    float v = 0;
                    for (int t = 0; t < PAGE; t++)
                        v += sum[r][i][t];
                    out[((size_t)s * heads + kv * share + r) * D + i] = _cvtss_sh(v, 0);
                }
        }
    }
    free(logits);
}
