// Inside the image a register of neighbours is one load; only the edges clamp.
#include "native.h"

static inline int clamped(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

void run(const REAL *restrict image, const REAL *restrict weights, REAL *restrict out, int width, int height)
{
    for (int y = 0; y < height; y++) {
        const REAL *rows[5];
        for (int dy = 0; dy < 5; dy++)
            rows[dy] = image + clamped(y + dy - 2, height) * width;
        for (int x = 0; x < width; x += LANES) {
            vec sum = {0};
            if (x >= 2 && x + LANES + 2 <= width)
                for (int dy = 0; dy < 5; dy++)
                    for (int dx = 0; dx < 5; dx++)
                        sum += weights[dy * 5 + dx] * LOAD(rows[dy] + x + dx - 2);
            else
                for (int dy = 0; dy < 5; dy++)
                    for (int dx = 0; dx < 5; dx++)
                        for (int l = 0; l < LANES; l++)
                            sum[l] += weights[dy * 5 + dx] * rows[dy][clamped(x + l + dx - 2, width)];
            STORE(out + y * width + x, sum);
        }
    }
}
