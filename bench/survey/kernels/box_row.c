#include "native.h"

void run(const float *restrict a, float *restrict b, int w, int h, int r) {
    for (int y = 0; y < h; y++) {
        const float *p = a + y * w;
        float *q = b + y * w, s = p[0] * r, scale = 1.0f / (2 * r + 1);
        for (int x = 0; x <= r; x++)
            s += p[x];
        q[0] = s * scale;
        for (int x = 1; x < w; x++) {
            s += p[MIN(x + r, w - 1)] - p[MAX(x - r - 1, 0)];
            q[x] = s * scale;
        }
    }
}
