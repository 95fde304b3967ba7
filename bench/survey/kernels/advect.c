#include "native.h"

void run(const float *restrict q, const float *restrict u, const float *restrict v, float *restrict o, int w, int h, float dt) {
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int i = y * w + x;
            float px = x - dt * u[i], py = y - dt * v[i];
            px = px < 0.5f ? 0.5f : px > w - 1.5f ? w - 1.5f : px;
            py = py < 0.5f ? 0.5f : py > h - 1.5f ? h - 1.5f : py;
            int x0 = px, y0 = py;
            float s = px - x0, t = py - y0;
            const float *p = q + y0 * w + x0;
            o[i] = (1 - t) * ((1 - s) * p[0] + s * p[1]) + t * ((1 - s) * p[w] + s * p[w + 1]);
        }
}
