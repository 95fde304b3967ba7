#include "native.h"

static const float c[5] = {-2.847f, 1.6f, -0.2f, 0.0254f, -0.00178f};

void run(const float *restrict now, float *restrict next, int nx, int ny, int nz, float dt) {
    int p = nx * ny;
    for (int z = 4; z < nz - 4; z++)
        for (int y = 4; y < ny - 4; y++)
            for (int x = 4; x < nx - 4; x++) {
                const float *q = now + (long)z * p + y * nx + x;
                float s = 3 * c[0] * q[0];
                for (int k = 1; k <= 4; k++)
                    s += c[k] * (q[-k * p] + q[k * p] + q[-k * nx] + q[k * nx] + q[-k] + q[k]);
                float *o = next + (long)z * p + y * nx + x;
                *o = 2 * q[0] - *o + dt * s;
            }
}
