// Marching tetrahedra, six in each cube of a grid.
#include "native.h"

static const signed char TRIANGLES[16][6] = {
    {-1, -1, -1, -1, -1, -1}, {0, 1, 2, -1, -1, -1}, {0, 4, 3, -1, -1, -1}, {1, 2, 4, 1, 4, 3},
    {1, 3, 5, -1, -1, -1},    {0, 3, 5, 0, 5, 2},    {0, 4, 5, 0, 5, 1},    {2, 4, 5, -1, -1, -1},
    {2, 5, 4, -1, -1, -1},    {0, 1, 5, 0, 5, 4},    {0, 2, 5, 0, 5, 3},    {1, 5, 3, -1, -1, -1},
    {1, 3, 4, 1, 4, 2},       {0, 3, 4, -1, -1, -1}, {0, 2, 1, -1, -1, -1}, {-1, -1, -1, -1, -1, -1},
};
static const uchar EDGE[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
static const uchar TET[6][4] = {{0, 1, 3, 7}, {0, 1, 5, 7}, {0, 2, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 4, 6, 7}};

void run(const float *restrict sdf, int *restrict counts, int *restrict places, int *restrict total,
         float *restrict triangles, int nx, int ny, int nz, float cell, int room) {
    int place = 0, cube = 0;
    for (int z = 0; z < nz - 1; z++)
        for (int y = 0; y < ny - 1; y++)
            for (int x = 0; x < nx - 1; x++, cube++) {
                const float *base = sdf + ((long)z * ny + y) * nx + x;
                float v[8];
                int inside = 0;
                for (int k = 0; k < 8; k++) {
                    v[k] = base[((long)(k >> 2) * ny + (k >> 1 & 1)) * nx + (k & 1)];
                    inside |= (v[k] < 0) << k;
                }
                places[cube] = place;
                if (inside != 0 && inside != 255)
                    for (int tet = 0; tet < 6; tet++) {
                        int index = 0;
                        for (int k = 0; k < 4; k++)
                            index |= (inside >> TET[tet][k] & 1) << k;
                        for (int k = 0; k < 6 && TRIANGLES[index][k] >= 0; k += 3, place++) {
                            if (place >= room)
                                continue;
                            for (int j = 0; j < 3; j++) {
                                int e = TRIANGLES[index][k + j], a = TET[tet][EDGE[e][0]], b = TET[tet][EDGE[e][1]];
                                float t = v[a] / (v[a] - v[b]), *p = triangles + 9L * place + 3 * j;
                                p[0] = (x + (a & 1) + t * ((b & 1) - (a & 1))) * cell;
                                p[1] = (y + (a >> 1 & 1) + t * ((b >> 1 & 1) - (a >> 1 & 1))) * cell;
                                p[2] = (z + (a >> 2) + t * ((b >> 2) - (a >> 2))) * cell;
                            }
                        }
                    }
                counts[cube] = place - places[cube];
            }
    *total = place;
}
