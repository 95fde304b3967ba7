// LoRA of many adapters: each token shrunk to its adapter's rank, then expanded and added.
#include "native.h"

enum { RANK = 32, TOKENS = 4 };

typedef struct {
    long long a_offset, b_offset;
    int rank;
    float scale;
} Adapter;

// With a rank that the compiler knows.
static inline __attribute__((always_inline)) void expand(const float *restrict b, const float *restrict shrunk,
                                                         float *restrict y, int count, int d_out, int rank) {
    for (int column = 0; column < d_out; column++)
        for (int t = 0; t < count; t++) {
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int r = 0; r < rank; r++)
                sum += b[column * rank + r] * shrunk[t * RANK + r];
            y[(size_t)t * d_out + column] += sum;
        }
}

void run(const float *restrict x, const float *restrict weights, const Adapter *restrict adapters,
         const int *restrict group_adapter, const int *restrict group_tokens, float *restrict shrunk,
         float *restrict y, int d_in, int d_out, int groups) {
    for (int g = 0; g < groups; g++) {
        if (group_adapter[g] < 0)
            continue;
        Adapter ad = adapters[group_adapter[g]];
        int first = group_tokens[2 * g], count = group_tokens[2 * g + 1] - first, rank = ad.rank;
        for (int t = 0; t < count; t++) {
            const float *v = x + (size_t)(first + t) * d_in;
            for (int r = 0; r < rank; r++) {
                const float *a = weights + ad.a_offset + (size_t)r * d_in;
                float sum = 0;
#pragma omp simd reduction(+ : sum)
                for (int i = 0; i < d_in; i++)
                    sum += a[i] * v[i];
                shrunk[(first + t) * RANK + r] = sum * ad.scale;
            }
        }
        const float *b = weights + ad.b_offset, *from = shrunk + first * RANK;
        float *to = y + (size_t)first * d_out;
        if (rank == 8)
            expand(b, from, to, count, d_out, 8);
        else if (rank == 16)
            expand(b, from, to, count, d_out, 16);
        else
            expand(b, from, to, count, d_out, 32);
    }
}
