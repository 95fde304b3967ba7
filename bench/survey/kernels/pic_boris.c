// Particles in a plane: fields, push, deposit; the push by vectors of 64 particles.
#include "native.h"
enum { W = 64 };

static inline int wrap(int i, int n) {
    return i < 0 ? i + n : i >= n ? i - n : i;
}

typedef struct {
    float x, y, ux, uy, uz, weight;
} Particle;

void run(Particle *restrict particles, const float *restrict fields, float *restrict rho, float *restrict jx,
         float *restrict jy, float *restrict jz, int nx, int ny, float dt, float charge_to_mass, int n) {
    float half = 0.5f * dt * charge_to_mass;
    float *sums = calloc(4L * nx * ny, sizeof *sums);  // the four of a node side by side
    for (int first = 0; first < n; first += W) {
        int lanes = MIN(W, n - first);
        Particle *p = particles + first;
        float f[4][W], v[W];
        int ix[W], iy[W];
        for (int i = 0; i < lanes; i++) {
            int x = (int)floorf(p[i].x), y = (int)floorf(p[i].y), x1 = wrap(x + 1, nx), y1 = wrap(y + 1, ny);
            float fx = p[i].x - x, fy = p[i].y - y;
            x = wrap(x, nx), y = wrap(y, ny);
            const float *a = fields + 4 * (y * nx + x), *b = fields + 4 * (y * nx + x1);
            const float *c = fields + 4 * (y1 * nx + x), *d = fields + 4 * (y1 * nx + x1);
            for (int k = 0; k < 4; k++)
                f[k][i] = (1 - fy) * ((1 - fx) * a[k] + fx * b[k]) + fy * ((1 - fx) * c[k] + fx * d[k]);
        }
#pragma omp simd
        for (int i = 0; i < lanes; i++) {
            float ux = p[i].ux + half * f[0][i], uy = p[i].uy + half * f[1][i], uz = p[i].uz + half * f[2][i];
            float gamma = sqrtf(1 + ux * ux + uy * uy + uz * uz), t = half * f[3][i] / gamma, s = 2 * t / (1 + t * t);
            float vx = ux + uy * t, vy = uy - ux * t;
            ux += vy * s + half * f[0][i];
            uy += half * f[1][i] - vx * s;
            uz += half * f[2][i];
            p[i].ux = ux;
            p[i].uy = uy;
            p[i].uz = uz;
            v[i] = 1 / sqrtf(1 + ux * ux + uy * uy + uz * uz);
            p[i].x += ux * v[i] * dt;
            p[i].y += uy * v[i] * dt;
            ix[i] = (int)floorf(p[i].x);
            iy[i] = (int)floorf(p[i].y);
        }
        for (int i = 0; i < lanes; i++) {
            float fx = p[i].x - ix[i], fy = p[i].y - iy[i], q = p[i].weight, g = q * v[i];
            float values[4] = {q, g * p[i].ux, g * p[i].uy, g * p[i].uz};
            int x = wrap(ix[i], nx), y = wrap(iy[i], ny), x1 = wrap(ix[i] + 1, nx), y1 = wrap(iy[i] + 1, ny);
            float *to[4] = {sums + 4 * (y * nx + x), sums + 4 * (y * nx + x1), sums + 4 * (y1 * nx + x),
                            sums + 4 * (y1 * nx + x1)};
            float w[4] = {(1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy};
            for (int c = 0; c < 4; c++)
                for (int k = 0; k < 4; k++)
                    to[c][k] += w[c] * values[k];
            p[i].x += p[i].x < 0 ? nx : p[i].x >= nx ? -nx : 0;
            p[i].y += p[i].y < 0 ? ny : p[i].y >= ny ? -ny : 0;
        }
    }
    for (int i = 0; i < nx * ny; i++) {
        rho[i] = sums[4 * i];
        jx[i] = sums[4 * i + 1];
        jy[i] = sums[4 * i + 2];
        jz[i] = sums[4 * i + 3];
    }
    free(sums);
}
