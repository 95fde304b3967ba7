#include "native.h"

void run(const float *restrict in, float *restrict out, int n) {
    int m = n / 2;
    for (int y = 0; y < m; y++)
        for (int x = 0; x < m; x++) {
            float a = in[2 * y * n + 2 * x], b = in[2 * y * n + 2 * x + 1];
            float c = in[(2 * y + 1) * n + 2 * x], d = in[(2 * y + 1) * n + 2 * x + 1];
            out[y * n + x] = 0.5f * (a + b + c + d);
            out[y * n + m + x] = 0.5f * (a - b + c - d);
            out[(m + y) * n + x] = 0.5f * (a + b - c - d);
            out[(m + y) * n + m + x] = 0.5f * (a - b - c + d);
        }
}
