#include "native.h"

enum { MOST = 96 };

typedef struct {
    float x, y, z, radius, dx, dy, dz, cosine;
} Light;

typedef struct {
    float lo[3], hi[3];
} Cluster;

static inline float outside(float lo, float hi, float v) {
    float d = MAX(lo - v, v - hi);
    return MAX(d, 0);
}

void run(Cluster *restrict clusters, const float *restrict slices, const Light *restrict lights,
         unsigned short *restrict indices, uint *restrict ranges, uint *restrict used, int nx, int ny, float tan_x, float tan_y, int nz, int count) {
    uint place = *used;
    // columns of numbers, for vectors
    float *room = malloc(6 * count * sizeof(float)), *X = room, *Y = X + count, *Z = Y + count, *R = Z + count;
    uchar *inside = malloc(count);
    for (int i = 0; i < count; i++) {
        X[i] = lights[i].x;
        Y[i] = lights[i].y;
        Z[i] = lights[i].z;
        R[i] = lights[i].radius * lights[i].radius;
    }
    for (int id = 0; id < nx * ny * nz; id++) {
        int x = id % nx, y = id / nx % ny, z = id / nx / ny;
        float z0 = slices[z], z1 = slices[z + 1];
        float x0 = (2.0f * x / nx - 1) * tan_x, x1 = (2.0f * (x + 1) / nx - 1) * tan_x;
        float y0 = (2.0f * y / ny - 1) * tan_y, y1 = (2.0f * (y + 1) / ny - 1) * tan_y;
        Cluster c = {{MIN(x0 * z0, x0 * z1), MIN(y0 * z0, y0 * z1), z0}, {MAX(x1 * z0, x1 * z1), MAX(y1 * z0, y1 * z1), z1}};
        clusters[id] = c;
#pragma omp simd
        for (int i = 0; i < count; i++) {
            float dx = outside(c.lo[0], c.hi[0], X[i]), dy = outside(c.lo[1], c.hi[1], Y[i]),
                  dz = outside(c.lo[2], c.hi[2], Z[i]);
            inside[i] = dx * dx + dy * dy + dz * dz <= R[i];
        }
        float e[3], m[3];
        for (int k = 0; k < 3; k++) {
            m[k] = 0.5f * (c.lo[k] + c.hi[k]);
            e[k] = c.hi[k] - m[k];
        }
        float radius = sqrtf(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
        uint total = 0, first = place;
        for (int i = 0; i < count; i++) {
            if (!inside[i])
                continue;
            const Light *l = lights + i;
            if (l->cosine >= -1) {
                float vx = m[0] - l->x, vy = m[1] - l->y, vz = m[2] - l->z;
                float along = vx * l->dx + vy * l->dy + vz * l->dz, square = vx * vx + vy * vy + vz * vz;
                float sine = sqrtf(1 - l->cosine * l->cosine), rest = square - along * along;
                float closest = l->cosine * sqrtf(MAX(rest, 0)) - along * sine;
                if (closest > radius || along > radius + l->radius || along < -radius)
                    continue;
            }
            if (total++ < MOST)
                indices[place++] = i;
        }
        ranges[2 * id] = place - first;
        ranges[2 * id + 1] = total;
    }
    *used = place;
    free(room);
    free(inside);
}
