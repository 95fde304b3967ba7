#include "native.h"

void run(float *restrict u, float *restrict v, float *restrict c, float *restrict d, int w, int h, float r) {
    float b = 1 + 2 * r;
    for (int y = 0; y < h; y++) {
        int up = y > 0 ? -w : 0, down = y < h - 1 ? w : 0, row = y * w;
        float last_c = 0, last_d = 0, value = 0;
        for (int x = 0; x < w; x++) {
            int i = row + x;
            float right = u[i] + r * (u[i + up] - 2 * u[i] + u[i + down]), m = 1 / (b + r * last_c);
            c[i] = last_c = -r * m;
            d[i] = last_d = (right + r * last_d) * m;
        }
        for (int x = w - 1; x >= 0; x--)
            v[row + x] = value = d[row + x] - c[row + x] * value;
    }
    for (int y = 0; y < h; y++) {
#pragma omp simd
        for (int x = 0; x < w; x++) {
            int i = y * w + x;
            float last_c = y > 0 ? c[i - w] : 0, last_d = y > 0 ? d[i - w] : 0;
            float left = x > 0 ? v[i - 1] : v[i], right = x < w - 1 ? v[i + 1] : v[i];
            float known = v[i] + r * (left - 2 * v[i] + right), m = 1 / (b + r * last_c);
            c[i] = -r * m;
            d[i] = (known + r * last_d) * m;
        }
    }
    for (int y = h - 1; y >= 0; y--)
#pragma omp simd
        for (int x = 0; x < w; x++) {
            int i = y * w + x;
            u[i] = y < h - 1 ? d[i] - c[i] * u[i + w] : d[i];
        }
}
