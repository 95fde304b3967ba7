#include "native.h"

void run(const int *restrict wall, int *restrict src, int *restrict dst, int cols, int steps) {
    for (int s = 0; s < 5; s++) {
        int *tmp = malloc(4 * cols), *a = s % 2 ? dst : src, *b = s % 2 ? src : dst;
        memcpy(tmp, a, 4 * cols);
        int *p = tmp, *q = b;
        int *other = malloc(4 * cols);
        for (int i = 0; i < steps; i++) {
            int *from = i % 2 ? other : tmp, *to = i == steps - 1 ? b : i % 2 ? tmp : other;
            const int *w = wall + cols * (s * steps + i);
            to[0] = MIN(from[0], from[1]) + w[0];
            for (int x = 1; x < cols - 1; x++)
                to[x] = MIN(MIN(from[x - 1], from[x + 1]), from[x]) + w[x];
            to[cols - 1] = MIN(from[cols - 1], from[cols - 2]) + w[cols - 1];
        }
        free(tmp);
        free(other);
    }
}
