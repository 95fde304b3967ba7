#include "native.h"
#define ROWS 32
#define COLUMNS 16

void run(const float *restrict a, float *restrict r, int n) {
    for (int m = 0; m < n; m++) {
        float s[COLUMNS][ROWS], v[ROWS];
        memcpy(s, a + ROWS * COLUMNS * m, sizeof s);
        for (int k = 0; k < COLUMNS; k++) {
            float q = 0;
            for (int i = k; i < ROWS; i++)
                q += s[k][i] * s[k][i];
            float alpha = s[k][k] > 0 ? -sqrtf(q) : sqrtf(q), first = s[k][k] - alpha, beta = -first / alpha;
            for (int i = k + 1; i < ROWS; i++)
                v[i] = s[k][i] / first;
            v[k] = 1;
            for (int t = k; t < COLUMNS; t++) {
                float d = 0;
                for (int i = k; i < ROWS; i++)
                    d += v[i] * s[t][i];
                d *= beta;
                for (int i = k; i < ROWS; i++)
                    s[t][i] -= d * v[i];
            }
        }
        for (int i = 0; i < COLUMNS * COLUMNS; i++)
            r[COLUMNS * COLUMNS * m + i] = i / COLUMNS <= i % COLUMNS ? s[i % COLUMNS][i / COLUMNS] : 0;
    }
}
