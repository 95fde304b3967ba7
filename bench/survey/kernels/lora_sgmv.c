// LoRA of many adapters: each token shrunk to its adapter's rank, then expanded and added.
#include "native.h"

enum { RANK = 32, TOKENS = 4 };

typedef struct {
    long long a_offset, b_offset;
    int rank;
    float scale;
} Adapter;

void run(const float *restrict x, const float *restrict weights, const Adapter *restrict adapters,
         const int *restrict group_adapter, const int *restrict group_tokens, float *restrict shrunk,
         float *restrict y, int d_in, int d_out, int groups) {
    for (int g = 0; g < groups; g++) {
        if (group_adapter[g] < 0)
            continue;
        Adapter ad = adapters[group_adapter[g]];
        int first = group_tokens[2 * g], count = group_tokens[2 * g + 1] - first, rank = ad.rank;
        for (int r = 0; r < rank; r++) {
            const float *a = weights + ad.a_offset + (size_t)r * d_in;
            for (int t = 0; t < count; t++) {
                const float *v = x + (size_t)(first + t) * d_in;
                float sum = 0;
#pragma omp simd reduction(+ : sum)
                for (int i = 0; i < d_in; i++)
                    sum += a[i] * v[i];
                shrunk[(first + t) * RANK + r] = sum * ad.scale;
            }
        }
        for (int column = 0; column < d_out; column++) {
            const float *b = weights + ad.b_offset + (size_t)column * rank;
            for (int t = 0; t < count; t++) {
                const float *v = shrunk + (first + t) * RANK;
                float sum = 0;
#pragma omp simd reduction(+ : sum)
                for (int r = 0; r < rank; r++)
                    sum += b[r] * v[r];
                y[(size_t)(first + t) * d_out + column] += sum;
            }
        }
    }
}
