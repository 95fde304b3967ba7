// Embedding bags: sums, means and maxima of rows, a bag's features side by side.
#include "native.h"

void run(const int64_t *restrict input, const int64_t *restrict offsets, const float *restrict weight,
         const float *restrict per_sample, float *restrict sums, float *restrict means, float *restrict maxima,
         int64_t *restrict bag_size, int64_t *restrict max_indices, long long indices, long long bags, int features,
         long long stride, long long padding) {
    for (long bag = 0; bag < bags; bag++) {
        long begin = offsets[bag], end = bag < bags - 1 ? offsets[bag + 1] : indices, size = 0;
        float *sum = sums + bag * features, *mean = means + bag * features, *best = maxima + bag * features;
        int64_t *where = max_indices + bag * features;
        for (int f = 0; f < features; f++) {
            sum[f] = mean[f] = best[f] = 0;
            where[f] = -1;
        }
        for (long e = begin; e < end; e++) {
            long word = input[e];
            if (word == padding)
                continue;
            const float *row = weight + word * stride;
            float w = per_sample[e];
            int first = size++ == 0;
#pragma omp simd
            for (int f = 0; f < features; f++) {
                float v = row[f];
                sum[f] += w * v;
                mean[f] += v;
                int better = first | (v > best[f]);
                best[f] = better ? v : best[f];
                where[f] = better ? word : where[f];
            }
        }
        if (size)
            for (int f = 0; f < features; f++)
                mean[f] /= (float)size;
        bag_size[bag] = size;
    }
}
