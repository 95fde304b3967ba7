#include "native.h"

void run(const float *restrict points, const int *restrict label, float *restrict sums, int *restrict counts,
         float *restrict centroids, size_t n, int dims, int k) {
    for (size_t i = 0; i < n; i++) {
        int c = label[i];
#pragma omp simd
        for (int d = 0; d < dims; d++)
            sums[c * dims + d] += points[i * dims + d];
        counts[c]++;
    }
    for (int c = 0; c < k; c++)
        if (counts[c] > 0)
            for (int d = 0; d < dims; d++)
                centroids[c * dims + d] = sums[c * dims + d] / counts[c];
}
