#include "native.h"
enum { SIZE = 128, PAGE = 16, MOST = 4096 };

void run(float *restrict out, const float *restrict q, const float *restrict k_cache,
         const float *restrict v_cache, const int *restrict tables, const int *restrict lengths, int heads,
         int kv_heads, int max_blocks, float scale, int seqs) {
    float p[MOST];
    for (int seq = 0; seq < seqs; seq++)
        for (int head = 0; head < heads; head++) {
            const float *mine = q + ((long)seq * heads + head) * SIZE;
            const int *table = tables + seq * max_blocks;
            int length = lengths[seq], kv = head / (heads / kv_heads);
            long stride = (long)kv_heads * SIZE;
            float most = -INFINITY, sum = 0, acc[SIZE] = {0};
            for (int t = 0; t < length; t++) {
                const float *k = k_cache + ((long)table[t / PAGE] * PAGE + t % PAGE) * stride + kv * SIZE;
                float dot = 0;
#pragma omp simd reduction(+ : dot)
                for (int d = 0; d < SIZE; d++)
                    dot += mine[d] * k[d];
                p[t] = dot * scale;
                most = MAX(most, p[t]);
            }
#pragma omp simd reduction(+ : sum)
            for (int t = 0; t < length; t++) {
                p[t] = expf(p[t] - most);
                sum += p[t];
            }
            float inverse = 1 / (sum + 1e-6f);
            for (int t = 0; t < length; t++) {
                const float *v = v_cache + ((long)table[t / PAGE] * PAGE + t % PAGE) * stride + kv * SIZE;
                float weight = p[t] * inverse;
#pragma omp simd
                for (int d = 0; d < SIZE; d++)
                    acc[d] += weight * v[d];
            }
            memcpy(out + ((long)seq * heads + head) * SIZE, acc, sizeof acc);
        }
}
