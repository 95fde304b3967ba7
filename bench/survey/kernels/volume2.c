#include "native.h"

void run(const float *restrict in, float *restrict out, int n) {
    memset(out, 0, sizeof(float) * n * n * n);
    for (int z = 1; z < n - 1; z++)
        for (int y = 1; y < n - 1; y++)
            for (int x = 1; x < n - 1; x++) {
                int i = (z * n + y) * n + x;
                float u = in[i + 1] - in[i - 1], v = in[i + n] - in[i - n], w = in[i + n * n] - in[i - n * n];
                out[i] = sqrtf(u * u + v * v + w * w);
            }
}
