#include "native.h"

void run(const uint *restrict sums, float *restrict out, int w, int h, int r) {
    for (int y = 0; y < h; y++) {
        int y0 = MAX(y - r, 0) - 1, y1 = MIN(y + r, h - 1);
        const uint *top = sums + y0 * w, *low = sums + y1 * w;
        for (int x = 0; x < w; x++) {
            if (x > r && x < w - r) {
                x = w - r - 1;
                continue;
            }
            int x0 = MAX(x - r, 0) - 1, x1 = MIN(x + r, w - 1);
            uint a = x0 >= 0 && y0 >= 0 ? top[x0] : 0, b = y0 >= 0 ? top[x1] : 0, c = x0 >= 0 ? low[x0] : 0;
            out[y * w + x] = (float)(low[x1] - b - c + a) / (float)((x1 - x0) * (y1 - y0));
        }
        float area = (2 * r + 1) * (y1 - y0);
        if (y0 >= 0) {
#pragma omp simd
            for (int x = r + 1; x < w - r; x++)
                out[y * w + x] = (float)(low[x + r] - top[x + r] - low[x - r - 1] + top[x - r - 1]) / area;
        } else {
            for (int x = r + 1; x < w - r; x++)
                out[y * w + x] = (float)(low[x + r] - low[x - r - 1]) / area;
        }
    }
}
