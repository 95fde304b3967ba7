// C = alpha A B' + beta C: panels of B packed so that four rows of A meet sixteen of B at once.
#include "native.h"

enum { R = 4, W = 16, DEPTH = 256 };

void run(const float *restrict a, const float *restrict b, float *restrict c, int m, int n, int k, int lda, int ldb,
         int ldc, float alpha, float beta) {
    static float pack[DEPTH][W];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            c[(long)i * ldc + j] = beta == 0 ? 0 : beta * c[(long)i * ldc + j];
    for (int k0 = 0; k0 < k; k0 += DEPTH) {
        int depth = MIN(DEPTH, k - k0);
        for (int j0 = 0; j0 < n; j0 += W) {
            int width = MIN(W, n - j0);
            for (int j = 0; j < W; j++)
                for (int t = 0; t < depth; t++)
                    pack[t][j] = j < width ? b[(long)(j0 + j) * ldb + k0 + t] : 0;
            for (int i0 = 0; i0 < m; i0 += R) {
                const float *row[R];
                for (int i = 0; i < R; i++)
                    row[i] = a + (long)MIN(i0 + i, m - 1) * lda + k0;
                float s0[W] = {0}, s1[W] = {0}, s2[W] = {0}, s3[W] = {0};
                for (int t = 0; t < depth; t++) {
                    float x0 = row[0][t], x1 = row[1][t], x2 = row[2][t], x3 = row[3][t];
#pragma omp simd
                    for (int j = 0; j < W; j++) {
                        float y = pack[t][j];
                        s0[j] += x0 * y;
                        s1[j] += x1 * y;
                        s2[j] += x2 * y;
                        s3[j] += x3 * y;
                    }
                }
                const float *sums[R] = {s0, s1, s2, s3};
                for (int i = 0; i < MIN(R, m - i0); i++)
                    for (int j = 0; j < width; j++)
                        c[(long)(i0 + i) * ldc + j0 + j] += alpha * sums[i][j];
            }
        }
    }
}
