#include "native.h"

void run(const float *restrict a, float *restrict o, int n) {
    for (int i = 0; i < n; i++) {
        const float *m = a + 9 * i;
        float *r = o + 9 * i;
        float c0 = m[4] * m[8] - m[5] * m[7], c1 = m[5] * m[6] - m[3] * m[8], c2 = m[3] * m[7] - m[4] * m[6];
        float d = 1.0f / (m[0] * c0 + m[1] * c1 + m[2] * c2);
        r[0] = c0 * d;
        r[1] = (m[2] * m[7] - m[1] * m[8]) * d;
        r[2] = (m[1] * m[5] - m[2] * m[4]) * d;
        r[3] = c1 * d;
        r[4] = (m[0] * m[8] - m[2] * m[6]) * d;
        r[5] = (m[2] * m[3] - m[0] * m[5]) * d;
        r[6] = c2 * d;
        r[7] = (m[1] * m[6] - m[0] * m[7]) * d;
        r[8] = (m[0] * m[4] - m[1] * m[3]) * d;
    }
}
