#include "native.h"

#define Q 19

static const int cx[Q] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
static const int cy[Q] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
static const int cz[Q] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};

#define FORWARD(A) A(0) A(1) A(2) A(3) A(4) A(5) A(6) A(7) A(8) A(9) A(10) A(11) A(12) A(13) A(14) A(15) \
                   A(16) A(17) A(18)

// A row of cells: `in[q]` and `out[q]` are rows of direction q.
static inline void collide(float *const *in, float *const *out, const uchar *restrict solid, int nx, float omega,
                           float force) {
#define ROWS(q) const float *restrict i##q = in[q]; float *restrict o##q = out[q];
    FORWARD(ROWS)
#pragma omp simd
    for (int x = 0; x < nx; x++) {
        float rho = 0, ux = 0, uy = 0, uz = 0;
#define ADD(q) float f##q = i##q[x]; rho += f##q; ux += cx[q] * f##q; uy += cy[q] * f##q; uz += cz[q] * f##q;
        FORWARD(ADD)
        float inverse = 1 / rho;
        ux = ux * inverse + force / omega, uy *= inverse, uz *= inverse;
        float usq = 1 - 1.5f * (ux * ux + uy * uy + uz * uz);
        int wall = solid[x] != 0;
#define OF(q) (q == 0 ? 1.0f / 3 : q < 7 ? 1.0f / 18 : 1.0f / 36)
#define BACK(q) (q == 0 ? f0 : q == 1 ? f2 : q == 2 ? f1 : q == 3 ? f4 : q == 4 ? f3 : q == 5 ? f6 : q == 6 ? f5 : \
                 q == 7 ? f8 : q == 8 ? f7 : q == 9 ? f10 : q == 10 ? f9 : q == 11 ? f12 : q == 12 ? f11 : \
                 q == 13 ? f14 : q == 14 ? f13 : q == 15 ? f16 : q == 16 ? f15 : q == 17 ? f18 : f17)
#define COLLIDE(q) { \
            float cu = 3 * (cx[q] * ux + cy[q] * uy + cz[q] * uz); \
            float moved = f##q + omega * (OF(q) * rho * (usq + cu + 0.5f * cu * cu) - f##q); \
            o##q[x] = wall ? BACK(q) : moved; \
        }
        FORWARD(COLLIDE)
    }
}

void run(float *f, float *f_new, const uchar *solid, int nx, int ny, int nz, float omega, float force, int steps) {
    long cells = (long)nx * ny * nz;
    float *rows = malloc((long)Q * nx * sizeof *rows), *in[Q], *out[Q];
    for (int s = 0; s < steps; s++) {
        for (int z = 0; z < nz; z++)
            for (int y = 0; y < ny; y++) {
                for (int q = 0; q < Q; q++) {
                    int sy = y - cy[q], sz = z - cz[q];
                    sy = sy < 0 ? ny - 1 : sy == ny ? 0 : sy;
                    sz = sz < 0 ? nz - 1 : sz == nz ? 0 : sz;
                    const float *from = f + q * cells + ((long)sz * ny + sy) * nx;
                    in[q] = (float *)from;
                    out[q] = f_new + q * cells + ((long)z * ny + y) * nx;
                    if (cx[q] == 0)
                        continue;
                    float *row = in[q] = rows + (long)q * nx;
                    if (cx[q] == 1) {
                        memcpy(row + 1, from, (nx - 1) * sizeof *row);
                        row[0] = from[nx - 1];
                    } else {
                        memcpy(row, from + 1, (nx - 1) * sizeof *row);
                        row[nx - 1] = from[0];
                    }
                }
                collide(in, out, solid + ((long)z * ny + y) * nx, nx, omega, force);
            }
        float *other = f;
        f = f_new, f_new = other;
    }
    free(rows);
}
