#include "native.h"

void run(float *restrict u, const float *restrict f, int n) {
    for (int colour = 0; colour < 2; colour++)
        for (int y = 1; y < n - 1; y++)
            for (int x = 1 + ((y + 1 + colour) & 1); x < n - 1; x += 2)
                u[y * n + x] = 0.25f * (u[(y - 1) * n + x] + u[(y + 1) * n + x] + u[y * n + x - 1] + u[y * n + x + 1] - f[y * n + x]);
}
