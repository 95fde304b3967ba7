#include "native.h"

void run(signed char *restrict spin, uint *restrict state, int n, float beta) {
    for (int colour = 0; colour < 2; colour++)
        for (int y = 0; y < n; y++) {
            signed char *c = spin + y * n, *u = spin + (y + n - 1) % n * n, *d = spin + (y + 1) % n * n;
            for (int x = 0; x < n / 2; x++) {
                int col = 2 * x + ((y + colour) & 1), l = col ? col - 1 : n - 1, r = col < n - 1 ? col + 1 : 0;
                int sum = u[col] + d[col] + c[l] + c[r];
                uint s = state[y * (n / 2) + x] * 1664525u + 1013904223u;
                state[y * (n / 2) + x] = s;
                if ((s >> 8) * (1.0f / 16777216.0f) < expf(-2.0f * beta * c[col] * sum))
                    c[col] = -c[col];
            }
        }
}
