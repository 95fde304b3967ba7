#include "native.h"

static void step(const double *restrict u, double *restrict next, size_t nx, size_t ny, size_t nz, double k) {
    for (size_t z = 0; z < nz; z++)
        for (size_t y = 0; y < ny; y++) {
            const double *row = u + (z * ny + y) * nx;
            const double *back = y > 0 ? row - nx : row, *front = y < ny - 1 ? row + nx : row;
            const double *below = z > 0 ? row - nx * ny : row, *above = z < nz - 1 ? row + nx * ny : row;
            double *to = next + (z * ny + y) * nx;
            to[0] = row[0] + k * (row[1] + back[0] + front[0] + below[0] + above[0] - 5 * row[0]);
#pragma omp simd
            for (size_t x = 1; x < nx - 1; x++)
                to[x] = row[x] + k * (row[x - 1] + row[x + 1] + back[x] + front[x] + below[x] + above[x] - 6 * row[x]);
            size_t x = nx - 1;
            to[x] = row[x] + k * (row[x - 1] + back[x] + front[x] + below[x] + above[x] - 5 * row[x]);
        }
}

void run(double *restrict a, double *restrict b, size_t nx, size_t ny, size_t nz, double k) {
    step(a, b, nx, ny, nz, k);
    step(b, a, nx, ny, nz, k);
}
