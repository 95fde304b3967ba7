// A cloud carried by a wind through a box and spread. `a` is as the kernels have it before each second step, the first
// index running fastest; between two steps C needs no other layout.
#include "native.h"

void run(float *restrict a, const float *restrict winds, int nx, int ny, int nz, float dt, float spread, float sink,
         int steps) {
    size_t n = (size_t)nx * ny * nz;
    float *room = malloc(n * sizeof(float)), *in = a, *out = room;
    for (int s = 0; s < steps; s++) {
        for (int k = 0; k < nz; k++) {
            float u = winds[3 * k], v = winds[3 * k + 1], w = winds[3 * k + 2];
            float u0 = u > 0 ? u : 0, u1 = u > 0 ? 0 : u, v0 = v > 0 ? v : 0, v1 = v > 0 ? 0 : v;
            float w0 = w > 0 ? w : 0, w1 = w > 0 ? 0 : w;
            for (int j = 0; j < ny; j++) {
                const float *restrict c = in + ((size_t)k * ny + j) * nx;
                const float *restrict north = in + ((size_t)k * ny + MAX(j - 1, 0)) * nx;
                const float *restrict south = in + ((size_t)k * ny + MIN(j + 1, ny - 1)) * nx;
                const float *restrict below = in + ((size_t)MAX(k - 1, 0) * ny + j) * nx;
                const float *restrict above = in + ((size_t)MIN(k + 1, nz - 1) * ny + j) * nx;
                float *restrict o = out + ((size_t)k * ny + j) * nx;
#define CELL(i, left, right)                                                                                          \
    do {                                                                                                              \
        float here = c[i], l = left, r = right;                                                                       \
        float carried = u0 * (here - l) + u1 * (r - here) + v0 * (here - north[i]) + v1 * (south[i] - here) +         \
                        w0 * (here - below[i]) + w1 * (above[i] - here);                                              \
        float around = l + r + north[i] + south[i] + below[i] + above[i] - 6 * here;                                  \
        o[i] = here + dt * (spread * around - carried - sink * here);                                                 \
    } while (0)
                CELL(0, c[0], c[1]);
#pragma omp simd
                for (int i = 1; i < nx - 1; i++)
                    CELL(i, c[i - 1], c[i + 1]);
                CELL(nx - 1, c[nx - 2], c[nx - 1]);
            }
        }
        float *swap = in;
        in = out;
        out = swap;
    }
    if (in != a)
        memcpy(a, in, n * sizeof(float));
    free(room);
}
