#include "native.h"

static inline int along(float p, float inv_h, int n) {
    return MIN(MAX((int)floorf(p * inv_h), 0), n - 1);
}

// The particles around a cell are copied side by side, for all of the cell's own.
void run(const float (*restrict position)[4], int *restrict start, float *restrict rho, float *restrict pressure, int n,
         float h, float inv_h, int nx, int ny, int nz, float stiffness, float rest) {
    int cells = nx * ny * nz;
    int *cell = malloc(n * sizeof *cell), *cursor = calloc(cells, sizeof *cursor), *original = malloc(n * sizeof(int));
    float *x = malloc(4L * n * sizeof *x), *y = x + n, *z = y + n, *mass = z + n;
    float *near_x = malloc(4L * (n + 16) * sizeof *x), *near_y = near_x + n + 16, *near_z = near_y + n + 16;
    float *near_mass = near_z + n + 16;
    for (int i = 0; i < n; i++) {
        cell[i] = (along(position[i][2], inv_h, nz) * ny + along(position[i][1], inv_h, ny)) * nx +
                  along(position[i][0], inv_h, nx);
        cursor[cell[i]]++;
    }
    int sum = 0;
    for (int c = 0; c < cells; c++) {
        int count = cursor[c];
        start[c] = cursor[c] = sum;
        sum += count;
    }
    start[cells] = sum;
    for (int i = 0; i < n; i++) {
        int to = cursor[cell[i]]++;
        x[to] = position[i][0], y[to] = position[i][1], z[to] = position[i][2], mass[to] = position[i][3];
        original[to] = i;
    }
    float h2 = h * h, poly6 = 315 / (64 * 3.14159265f * powf(h, 9));
    for (int cz = 0; cz < nz; cz++)
        for (int cy = 0; cy < ny; cy++)
            for (int cx = 0; cx < nx; cx++) {
                int here = (cz * ny + cy) * nx + cx, count = 0;
                if (start[here] == start[here + 1])
                    continue;
                // cells in a row of x are one stretch
                for (int oz = MAX(cz - 1, 0); oz <= MIN(cz + 1, nz - 1); oz++)
                    for (int oy = MAX(cy - 1, 0); oy <= MIN(cy + 1, ny - 1); oy++) {
                        int row = (oz * ny + oy) * nx;
                        int begin = start[row + MAX(cx - 1, 0)], end = start[row + MIN(cx + 1, nx - 1) + 1];
#pragma omp simd
                        for (int j = begin; j < end; j++) {
                            int to = count + j - begin;
                            near_x[to] = x[j], near_y[to] = y[j], near_z[to] = z[j], near_mass[to] = mass[j];
                        }
                        count += end - begin;
                    }
                // to whole vectors, with particles that have no mass
                for (; count % 16 != 0; count++)
                    near_x[count] = near_y[count] = near_z[count] = near_mass[count] = 0;
                for (int i = start[here]; i < start[here + 1]; i++) {
                    float px = x[i], py = y[i], pz = z[i], sum = 0;
#pragma omp simd reduction(+ : sum)
                    for (int j = 0; j < count; j++) {
                        float rx = px - near_x[j], ry = py - near_y[j], rz = pz - near_z[j];
                        float d = MAX(h2 - (rx * rx + ry * ry + rz * rz), 0);
                        sum += near_mass[j] * d * d * d;
                    }
                    rho[original[i]] = sum * poly6;
                    pressure[original[i]] = stiffness * MAX(sum * poly6 - rest, 0);
                }
            }
    free(near_x);
    free(cell);
    free(cursor);
    free(original);
    free(x);
}
