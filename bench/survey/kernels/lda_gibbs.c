#include "native.h"
#define K 32

static inline float uniform(uint i, uint seed) {
    uint x = i * 747796405u + seed;
    x = ((x >> ((x >> 28) + 4)) ^ x) * 277803737u;
    x ^= x >> 22;
    return (x >> 8) * (1.0f / 16777216.0f);
}

void run(const int *restrict doc, const int *restrict word, uchar *restrict topic, const int *restrict doc_topic,
         const int *restrict word_topic, const int *restrict topic_total, int *restrict new_doc_topic,
         int *restrict new_word_topic, int *restrict new_topic_total, int n, float alpha, float beta, float beta_sum,
         uint seed, int words) {
    float inverse[K];
    for (int k = 0; k < K; k++)
        inverse[k] = 1 / (topic_total[k] + beta_sum);
    for (int i = 0; i < n; i++) {
        const int *restrict dt = doc_topic + doc[i] * K, *restrict wt = word_topic + word[i] * K;
        int old = topic[i], at = 0;
        float p[K], sum = 0;
#pragma omp simd
        for (int k = 0; k < K; k++)
            p[k] = (dt[k] - (k == old) + alpha) * (wt[k] - (k == old) + beta) * inverse[k];
        for (int k = 0; k < K; k++)
            p[k] = sum += p[k];
        float u = uniform(i, seed) * sum;
        for (int k = 0; k < K - 1; k++)
            at += p[k] <= u;
        topic[i] = at;
        new_doc_topic[doc[i] * K + at]++;
        new_word_topic[word[i] * K + at]++;
        new_topic_total[at]++;
    }
}
