#include "native.h"

void run(const float *restrict in, float *restrict out, int nx, int ny, int nz, float c0, float c1) {
    int s = nx * ny;
    for (int z = 1; z < nz - 1; z++)
        for (int y = 1; y < ny - 1; y++) {
            int i0 = z * s + y * nx;
            for (int x = 1; x < nx - 1; x++) {
                int i = i0 + x;
                out[i] = c0 * in[i] +
                         c1 * (in[i - s] + in[i + s] + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx]);
            }
        }
}
