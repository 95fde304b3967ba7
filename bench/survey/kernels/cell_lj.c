#include "native.h"
#define ROOM 32

typedef struct {
    float x, y, z, w;
} float4;

void run(const float4 *restrict position, const int *restrict count, float4 *restrict force, int nx, int ny, int nz,
         float side, float sigma2, float cutoff2) {
    for (int bz = 0; bz < nz; bz++)
        for (int by = 0; by < ny; by++)
            for (int bx = 0; bx < nx; bx++) {
                int box = (bz * ny + by) * nx + bx;
                float4 sums[ROOM] = {0};
                for (int dz = -1; dz <= 1; dz++)
                    for (int dy = -1; dy <= 1; dy++)
                        for (int dx = -1; dx <= 1; dx++) {
                            int x = bx + dx, y = by + dy, z = bz + dz;
                            float sx = x < 0 ? -nx * side : x >= nx ? nx * side : 0;
                            float sy = y < 0 ? -ny * side : y >= ny ? ny * side : 0;
                            float sz = z < 0 ? -nz * side : z >= nz ? nz * side : 0;
                            int other = ((z + nz) % nz * ny + (y + ny) % ny) * nx + (x + nx) % nx, n = count[other];
                            float qx[ROOM], qy[ROOM], qz[ROOM];
                            for (int j = 0; j < n; j++) {
                                float4 q = position[other * ROOM + j];
                                qx[j] = q.x + sx;
                                qy[j] = q.y + sy;
                                qz[j] = q.z + sz;
                            }
                            for (int i = 0; i < count[box]; i++) {
                                float4 p = position[box * ROOM + i];
                                float fx = 0, fy = 0, fz = 0, energy = 0;
                                int self = other == box ? i : -1;
#pragma omp simd reduction(+ : fx, fy, fz, energy)
                                for (int j = 0; j < n; j++) {
                                    float rx = p.x - qx[j], ry = p.y - qy[j], rz = p.z - qz[j];
                                    float r2 = rx * rx + ry * ry + rz * rz;
                                    if (j != self && r2 < cutoff2) {
                                        float s2 = sigma2 / r2, s6 = s2 * s2 * s2;
                                        float f = 24 * s6 * (2 * s6 - 1) / r2;
                                        fx += f * rx;
                                        fy += f * ry;
                                        fz += f * rz;
                                        energy += 2 * s6 * (s6 - 1);
                                    }
                                }
                                sums[i].x += fx;
                                sums[i].y += fy;
                                sums[i].z += fz;
                                sums[i].w += energy;
                            }
                        }
                memcpy(force + box * ROOM, sums, count[box] * sizeof(float4));
            }
}
