#include "native.h"

void run(float *restrict u, const float *restrict f, int n, float omega, int steps) {
    for (int s = 0; s < steps; s++)
        for (int y = 1; y < n - 1; y++)
            for (int x = 1 + ((y + s) & 1); x < n - 1; x += 2) {
                int i = y * n + x;
                float r = 0.25f * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] - f[i]) - u[i];
                u[i] += omega * r;
            }
}
