#include "native.h"

enum { W = 16 };  // rows side by side

void run(const float *restrict in, float *restrict out, int rows) {
    for (int r = 0; r < rows; r += W) {
        float v[32][W];
        int m = MIN(W, rows - r);
        for (int k = 0; k < 32; k++)
            for (int i = 0; i < W; i++)
                v[k][i] = i < m ? in[(r + i) * 32 + k] : 0;
        for (int k = 2; k <= 32; k *= 2)
            for (int j = k / 2; j > 0; j /= 2)
                for (int a = 0; a < 32; a++) {
                    int b = a ^ j;
                    if (b < a)
                        continue;
                    float *p = a & k ? v[b] : v[a], *q = a & k ? v[a] : v[b];
#pragma omp simd
                    for (int i = 0; i < W; i++) {
                        float x = p[i], y = q[i];
                        p[i] = MIN(x, y);
                        q[i] = MAX(x, y);
                    }
                }
        for (int i = 0; i < m; i++)
            for (int k = 0; k < 32; k++)
                out[(r + i) * 32 + k] = v[k][i];
    }
}
