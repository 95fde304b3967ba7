#include "native.h"

// A mesh to bits of voxels, triangle by triangle.
typedef struct {
    float nx[3], ny[3], d[3];
} Edges;

static inline Edges edges(const float *u, const float *v, float sign) {
    Edges e;
    for (int i = 0; i < 3; i++) {
        int j = i == 2 ? 0 : i + 1;
        float x = -(v[j] - v[i]) * sign, y = (u[j] - u[i]) * sign;
        e.nx[i] = x;
        e.ny[i] = y;
        e.d[i] = -(x * u[i] + y * v[i]) + MAX(0, x) + MAX(0, y);
    }
    return e;
}

static inline int inside(const Edges *e, float u, float v) {
    return (e->nx[0] * u + e->ny[0] * v + e->d[0] >= 0) & (e->nx[1] * u + e->ny[1] * v + e->d[1] >= 0) &
           (e->nx[2] * u + e->ny[2] * v + e->d[2] >= 0);
}

#define LEAST(p) MAX(0, (int)floorf(MIN(p[0], MIN(p[1], p[2]))))
#define MOST(p, n) MIN((n) - 1, (int)MAX(p[0], MAX(p[1], p[2])))

void run(const float *restrict vertices, const int *restrict triangles, uint *restrict bits, int *restrict filled,
         int count, int nx, int ny, int nz) {
    for (int t = 0; t < count; t++) {
        float px[3], py[3], pz[3];
        for (int i = 0; i < 3; i++) {
            const float *v = vertices + 3 * triangles[3 * t + i];
            px[i] = v[0], py[i] = v[1], pz[i] = v[2];
        }
        float ux = px[1] - px[0], uy = py[1] - py[0], uz = pz[1] - pz[0];
        float vx = px[2] - px[0], vy = py[2] - py[0], vz = pz[2] - pz[0];
        float a = uy * vz - uz * vy, b = uz * vx - ux * vz, c = ux * vy - uy * vx;
        Edges xy = edges(px, py, c < 0 ? -1 : 1), yz = edges(py, pz, a < 0 ? -1 : 1), zx = edges(pz, px, b < 0 ? -1 : 1);
        float fx = a > 0, fy = b > 0, fz = c > 0;
        float d1 = a * (fx - px[0]) + b * (fy - py[0]) + c * (fz - pz[0]);
        float d2 = a * (1 - fx - px[0]) + b * (1 - fy - py[0]) + c * (1 - fz - pz[0]);
        int x0 = LEAST(px), x1 = MOST(px, nx), y0 = LEAST(py), y1 = MOST(py, ny), z0 = LEAST(pz), z1 = MOST(pz, nz);
        for (int x = x0; x <= x1; x++)
            for (int y = y0; y <= y1; y++) {
                if (!inside(&xy, x, y))
                    continue;
                for (int z = z0; z <= z1; z++) {
                    float along = a * x + b * y + c * z;
                    if ((along + d1) * (along + d2) > 0)
                        continue;
                    if (!inside(&yz, y, z) || !inside(&zx, z, x))
                        continue;
                    size_t at = ((size_t)x * ny + y) * nz + z;
                    bits[at >> 5] |= 1u << (at & 31);
                }
            }
    }
    int words = ny * nz / 32;
    for (int x = 0; x < nx; x++) {
        int sum = 0;
        for (int i = 0; i < words; i++)
            sum += __builtin_popcount(bits[(size_t)x * words + i]);
        filled[x] = sum;
    }
}
