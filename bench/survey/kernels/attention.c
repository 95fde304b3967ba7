#include "native.h"

#define D 64

void run(const float *restrict q, const float *restrict k, const float *restrict v, float *restrict out, int batch,
         int seq, int heads, float scale) {
    long row = (long)heads * D;
    for (int b = 0; b < batch; b++)
        for (int head = 0; head < heads; head++) {
            long start = b * seq * row + head * D;
            for (int i = 0; i < seq; i++) {
                const float *query = q + start + i * row;
                float sum[D] = {0}, most = -1e30f, total = 0;
                for (int j = 0; j <= i; j++) {
                    const float *key = k + start + j * row, *value = v + start + j * row;
                    float score = 0;
#pragma omp simd reduction(+ : score)
                    for (int d = 0; d < D; d++)
                        score += query[d] * key[d];
                    score *= scale;
                    if (score > most) {
                        float old = expf(most - score);
                        total *= old;
#pragma omp simd
                        for (int d = 0; d < D; d++)
                            sum[d] *= old;
                        most = score;
                    }
                    float p = expf(score - most);
                    total += p;
#pragma omp simd
                    for (int d = 0; d < D; d++)
                        sum[d] += p * value[d];
                }
#pragma omp simd
                for (int d = 0; d < D; d++)
                    out[start + i * row + d] = sum[d] / total;
            }
        }
}
