// Partial results of attention from each rank merged into one.
#include "native.h"

void run(float *restrict out, float *restrict lse, float *restrict other, const float *restrict block_out,
         const float *restrict block_lse, const int *restrict first_rows, int rows, int heads, int dim, int steps) {
    for (int s = 0; s < steps; s++) {
        const float *bo = block_out + (size_t)s * heads * rows * dim, *bl = block_lse + (size_t)s * heads * rows;
        float *from = s % 2 ? other : lse, *to = s % 2 ? lse : other;
        for (int row = 0; row < heads * rows; row++) {
            to[row] = from[row];
            if (row % rows < first_rows[s])
                continue;
            float old = from[row], fresh = bl[row], w = 1 / (1 + expf(old - fresh)), v = old - fresh;
            float *o = out + (size_t)row * dim;
            const float *b = bo + (size_t)row * dim;
#pragma omp simd
            for (int i = 0; i < dim; i++)
                o[i] -= w * (o[i] - b[i]);
            to[row] = old - (v < 0 ? v - log1pf(expf(v)) : -log1pf(expf(-v)));
        }
    }
}
