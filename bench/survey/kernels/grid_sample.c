#include "native.h"

typedef struct {
    float x, y;
} float2;

void run(const float *restrict image, const float2 *restrict grid, float *restrict out, int channels, int h,
         int w, int n) {
    for (int i = 0; i < n; i++) {
        float2 g = grid[i];
        float fx = ((g.x + 1) * w - 1) * 0.5f, fy = ((g.y + 1) * h - 1) * 0.5f;
        int x0 = (int)floorf(fx), y0 = (int)floorf(fy);
        float ax = fx - x0, ay = fy - y0;
        int l = x0 >= 0 && x0 < w, r = x0 + 1 >= 0 && x0 + 1 < w, t = y0 >= 0 && y0 < h,
            b = y0 + 1 >= 0 && y0 + 1 < h;
        for (int c = 0; c < channels; c++) {
            const float *p = image + c * h * w;
            float v = 0;
            if (t && l)
                v += p[y0 * w + x0] * (1 - ax) * (1 - ay);
            if (t && r)
                v += p[y0 * w + x0 + 1] * ax * (1 - ay);
            if (b && l)
                v += p[(y0 + 1) * w + x0] * (1 - ax) * ay;
            if (b && r)
                v += p[(y0 + 1) * w + x0 + 1] * ax * ay;
            out[c * n + i] = v;
        }
    }
}
