#include "native.h"

void run(const float *restrict a, const float *restrict b, float *restrict x, int n) {
    for (int i = 0; i < n; i++) {
        float m[4][5];
        for (int r = 0; r < 4; r++) {
            for (int c = 0; c < 4; c++)
                m[r][c] = a[i * 16 + r * 4 + c];
            m[r][4] = b[i * 4 + r];
        }
        for (int k = 0; k < 4; k++) {
            float p = 1 / m[k][k];
            for (int c = k; c < 5; c++)
                m[k][c] *= p;
            for (int r = 0; r < 4; r++)
                if (r != k) {
                    float f = m[r][k];
                    for (int c = k; c < 5; c++)
                        m[r][c] -= f * m[k][c];
                }
        }
        for (int r = 0; r < 4; r++)
            x[i * 4 + r] = m[r][4];
    }
}
