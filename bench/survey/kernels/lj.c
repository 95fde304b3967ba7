#include "native.h"

void run(const float *restrict p, const int *restrict nb, float *restrict f, int n, int k, float rc2) {
    for (int i = 0; i < n; i++) {
        float ax = p[4 * i], ay = p[4 * i + 1], az = p[4 * i + 2], fx = 0, fy = 0, fz = 0, e = 0;
        for (int j = 0; j < k; j++) {
            int q = nb[j * n + i];
            float dx = ax - p[4 * q], dy = ay - p[4 * q + 1], dz = az - p[4 * q + 2],
                  r2 = dx * dx + dy * dy + dz * dz;
            if (r2 < rc2) {
                float i2 = 1 / r2, i6 = i2 * i2 * i2, s = i2 * i6 * (48 * i6 - 24);
                fx += dx * s;
                fy += dy * s;
                fz += dz * s;
                e += 4 * i6 * (i6 - 1);
            }
        }
        f[4 * i] = fx;
        f[4 * i + 1] = fy;
        f[4 * i + 2] = fz;
        f[4 * i + 3] = e;
    }
}
