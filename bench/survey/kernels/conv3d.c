#include "native.h"

void run(const float *restrict a, float *restrict b, int ni, int nj, int nk) {
    int s = nj * nk;
    for (int i = 1; i < ni - 1; i++)
        for (int j = 1; j < nj - 1; j++)
            for (int k = 1; k < nk - 1; k++) {
                const float *p = a + (i * nj + j) * nk + k;
                b[(i * nj + j) * nk + k] = 0.2f * p[-s - nk - 1] + 0.5f * p[-s + nk - 1] - 0.8f * p[-s - nk + 1] - 0.3f * p[nk] +
                    0.6f * p[0] - 0.9f * p[-nk] + 0.4f * p[s - nk] + 0.7f * p[s - nk + 1] + 0.1f * p[s + nk + 1];
            }
}
