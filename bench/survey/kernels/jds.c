// A sparse matrix in jagged diagonals by a vector.
#include "native.h"

enum { W = 32 };  // rows that have one length, after padding

void run(float *restrict out, const float *restrict data, const int *restrict index, const int *restrict perm,
         const float *restrict x, const int *restrict ptr, const int *restrict lengths, int dim) {
    for (int first = 0; first < dim; first += W) {
        float sum[W] = {0};
        for (int k = 0; k < lengths[first / W]; k++) {
            const float *d = data + ptr[k] + first;
            const int *column = index + ptr[k] + first;
#pragma omp simd
            for (int i = 0; i < W; i++)
                sum[i] += d[i] * x[column[i]];
        }
        for (int i = 0; i < MIN(W, dim - first); i++)
            out[perm[first + i]] = sum[i];
    }
}
