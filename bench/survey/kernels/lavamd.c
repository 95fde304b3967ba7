// Potentials and forces between the particles of a box and of the boxes around it.
#include "native.h"

__attribute__((simd("notinbranch"))) extern double exp(double);

enum { PAR = 100 };

typedef struct {
    int x, y, z, number;
    long offset;
} Neighbour;

typedef struct {
    int x, y, z, number;
    long offset;
    int nn;
    Neighbour nei[26];
} Box;

void run(const Box *restrict boxes, const double *restrict rv, const double *restrict qv, double *restrict fv,
         double alpha, long count) {
    double a2 = 2 * alpha * alpha;
    for (long b = 0; b < count; b++)
        for (int k = 0; k <= boxes[b].nn; k++) {
            long at = k ? boxes[boxes[b].nei[k - 1].number].offset : boxes[b].offset;
            double v[PAR], x[PAR], y[PAR], z[PAR];
            const double *q = qv + at;
            for (int j = 0; j < PAR; j++) {
                const double *r = rv + 4 * (at + j);
                v[j] = r[0];
                x[j] = r[1];
                y[j] = r[2];
                z[j] = r[3];
            }
            for (int i = 0; i < PAR; i++) {
                const double *r = rv + 4 * (boxes[b].offset + i);
                double *f = fv + 4 * (boxes[b].offset + i), s = 0, sx = 0, sy = 0, sz = 0;
                double rv0 = r[0], rx = r[1], ry = r[2], rz = r[3];
#pragma omp simd reduction(+ : s, sx, sy, sz)
                for (int j = 0; j < PAR; j++) {
                    double r2 = rv0 + v[j] - (rx * x[j] + ry * y[j] + rz * z[j]);
                    double w = q[j] * exp(-a2 * r2), fs = 2 * w;
                    s += w;
                    sx += fs * (rx - x[j]);
                    sy += fs * (ry - y[j]);
                    sz += fs * (rz - z[j]);
                }
                f[0] += s;
                f[1] += sx;
                f[2] += sy;
                f[3] += sz;
            }
        }
}
