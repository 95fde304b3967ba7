#include "native.h"

static uint hash(uint x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

void run(signed char *restrict spin, int n, float beta, int steps) {
    for (int step = 0; step < steps; step++)
        for (int y = 0; y < n; y++) {
            int up = y == 0 ? n - 1 : y - 1, down = y == n - 1 ? 0 : y + 1;
            for (int x = (y + step) & 1; x < n; x += 2) {
                int left = x == 0 ? n - 1 : x - 1, right = x == n - 1 ? 0 : x + 1;
                int sum = spin[y * n + left] + spin[y * n + right] + spin[up * n + x] + spin[down * n + x];
                int cost = 2 * spin[y * n + x] * sum;
                float u = (hash((uint)(y * n + x) * 2654435761u + (uint)step) >> 8) * (1.0f / 16777216.0f);
                if (cost <= 0 || u < (cost == 4 ? beta * beta : beta * beta * beta * beta))
                    spin[y * n + x] = -spin[y * n + x];
            }
        }
}
