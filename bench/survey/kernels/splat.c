#include "native.h"

void run(const float *restrict points, ull *restrict buffer, int n, int w, int h) {
    for (int i = 0; i < n; i++) {
        const float *p = points + 4 * i;
        float z = p[2] + 2.0f;
        int x = (int)((p[0] / z + 0.5f) * w), y = (int)((p[1] / z + 0.5f) * h);
        if (x < 0 || y < 0 || x >= w || y >= h)
            continue;
        uint bits;
        memcpy(&bits, &z, 4);
        ull key = (ull)bits << 32 | i;
        if (key < buffer[y * w + x])
            buffer[y * w + x] = key;
    }
}
