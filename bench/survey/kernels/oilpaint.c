#include "native.h"
enum { MAX_LEVELS = 24 };

// Levels of brightness are worked out once for each pixel.
void run(const uchar *restrict input, uchar *restrict output, int width, int height, size_t pitch, int radius,
         int levels) {
    uchar *restrict level = malloc(width * height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const uchar *p = input + y * pitch + 3 * x;
            level[y * width + x] = (p[0] + p[1] + p[2]) / 3.0 * levels / 256.0;
        }
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int sums[MAX_LEVELS][4] = {0}, best = 0;
            int left = MAX(x - radius, 0), right = MIN(x + radius, width - 1);
            for (int py = MAX(y - radius, 0); py <= MIN(y + radius, height - 1); py++)
                for (int px = left; px <= right; px++) {
                    const uchar *p = input + py * pitch + 3 * px;
                    int *s = sums[level[py * width + px]];
                    s[0]++, s[1] += p[0], s[2] += p[1], s[3] += p[2];
                }
            for (int i = 1; i < levels; i++)
                best = sums[i][0] > sums[best][0] ? i : best;
            for (int c = 0; c < 3; c++)
                output[y * pitch + 3 * x + c] = sums[best][c + 1] / sums[best][0];
        }
    free(level);
}
