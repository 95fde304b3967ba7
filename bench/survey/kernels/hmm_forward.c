#include "native.h"

enum { MOST = 256 };

void run(const float *restrict start, const float *restrict transition, const float *restrict emission,
         const uchar *restrict symbols, const int *restrict offsets, float *restrict log_likelihood, int states,
         int sequences) {
    for (int q = 0; q < sequences; q++) {
        const uchar *seen = symbols + offsets[q];
        int length = offsets[q + 1] - offsets[q];
        float alpha[MOST], next[MOST], result = 0;
        for (int t = 0; t < length; t++) {
            const float *emit = emission + seen[t] * states;
            if (t == 0)
                memcpy(next, start, states * sizeof(float));
            else {
                memset(next, 0, states * sizeof(float));
                for (int i = 0; i < states; i++)
#pragma omp simd
                    for (int j = 0; j < states; j++)
                        next[j] += alpha[i] * transition[i * states + j];
            }
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int j = 0; j < states; j++) {
                next[j] *= emit[j];
                sum += next[j];
            }
            float scale = 1 / sum;
            for (int j = 0; j < states; j++)
                alpha[j] = next[j] * scale;
            result += logf(sum);
        }
        log_likelihood[q] = result;
    }
}
