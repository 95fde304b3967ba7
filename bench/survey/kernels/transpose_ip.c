#include "native.h"

void run(float *restrict a, int n) {
    for (int by = 0; by < n; by += 32)
        for (int bx = by; bx < n; bx += 32) {
            float s[32][32], d[32][32];
            for (int y = 0; y < 32; y++)
                for (int x = 0; x < 32; x++) {
                    s[x][y] = a[(by + y) * n + bx + x];
                    d[x][y] = a[(bx + y) * n + by + x];
                }
            for (int y = 0; y < 32; y++)
                for (int x = 0; x < 32; x++) {
                    a[(bx + y) * n + by + x] = s[y][x];
                    a[(by + y) * n + bx + x] = d[y][x];
                }
        }
}
