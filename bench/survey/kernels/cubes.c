#include "native.h"

void run(const float *restrict f, const int *restrict table, int *restrict verts, int nx, int ny, int nz, float iso) {
    int *o = verts;
    for (int z = 0; z < nz - 1; z++)
        for (int y = 0; y < ny - 1; y++)
            for (int x = 0; x < nx - 1; x++) {
                const float *p = f + (z * ny + y) * nx + x;
                int k = (p[0] < iso) | (p[1] < iso) << 1 | (p[nx + 1] < iso) << 2 | (p[nx] < iso) << 3;
                p += nx * ny;
                k |= (p[0] < iso) << 4 | (p[1] < iso) << 5 | (p[nx + 1] < iso) << 6 | (p[nx] < iso) << 7;
                *o++ = table[k];
            }
}
