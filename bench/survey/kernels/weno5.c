// WENO of fifth order for Burgers' equation: each face once, rows as vectors, borders copied around.
#include "native.h"

static inline double weno(double a, double b, double c, double d, double e) {
    double q0 = (2 * a - 7 * b + 11 * c) * (1 / 6.), q1 = (-b + 5 * c + 2 * d) * (1 / 6.);
    double q2 = (2 * c + 5 * d - e) * (1 / 6.);
    double t0 = a - 2 * b + c, s0 = a - 4 * b + 3 * c, t1 = b - 2 * c + d, s1 = b - d, t2 = c - 2 * d + e;
    double s2 = 3 * c - 4 * d + e;
    double b0 = 1e-6 + 13 / 12. * t0 * t0 + 0.25 * s0 * s0, b1 = 1e-6 + 13 / 12. * t1 * t1 + 0.25 * s1 * s1;
    double b2 = 1e-6 + 13 / 12. * t2 * t2 + 0.25 * s2 * s2;
    double w0 = 0.1 / (b0 * b0), w1 = 0.6 / (b1 * b1), w2 = 0.3 / (b2 * b2);
    return (w0 * q0 + w1 * q1 + w2 * q2) / (w0 + w1 + w2);
}

// Between two of six rows (or shifted ones): from the left and from the right.
static inline void faces(const double *restrict plus, const double *restrict minus, long stride, int n,
                         double *restrict out) {
#pragma omp simd
    for (int i = 0; i < n; i++) {
        const double *p = plus + i, *m = minus + i;
        out[i] = weno(p[-2 * stride], p[-stride], p[0], p[stride], p[2 * stride]) +
                 weno(m[3 * stride], m[2 * stride], m[stride], m[0], m[-stride]);
    }
}

static void stage(const double *u0, const double *u, double *out, double speed, int nx, int ny, double h, double cfl,
                  double keep, double *plus, double *minus, double *work) {
    long w = nx + 6;
    for (int y = -3; y < ny + 3; y++) {
        const double *row = u + (long)((y + ny) % ny) * nx;
        double *p = plus + (y + 3) * w + 3, *m = minus + (y + 3) * w + 3;
        for (int x = 0; x < nx; x++) {
            double f = 0.5 * row[x] * row[x];
            p[x] = 0.5 * (f + speed * row[x]);
            m[x] = 0.5 * (f - speed * row[x]);
        }
        for (int k = 1; k <= 3; k++) {
            p[-k] = p[nx - k], p[nx + k - 1] = p[k - 1];
            m[-k] = m[nx - k], m[nx + k - 1] = m[k - 1];
        }
    }
    double dt = cfl * h / speed, *across = work, *below = work + nx + 1, *above = below + nx;
    faces(plus + 2 * w + 3, minus + 2 * w + 3, w, nx, below);
    for (int y = 0; y < ny; y++) {
        const double *p = plus + (y + 3) * w + 3, *m = minus + (y + 3) * w + 3;
        faces(p - 1, m - 1, 1, nx + 1, across);
        faces(p, m, w, nx, above);
        long at = (long)y * nx;
#pragma omp simd
        for (int x = 0; x < nx; x++) {
            double change = -(across[x + 1] - across[x] + above[x] - below[x]) / h;
            out[at + x] = keep * u0[at + x] + (1 - keep) * (u[at + x] + dt * change);
        }
        double *swap = below;
        below = above;
        above = swap;
    }
}

void run(double *restrict u, double *restrict u1, double *restrict u2, int nx, int ny, double h, double cfl,
         int steps) {
    double *plus = malloc((2 * (nx + 6L) * (ny + 6) + 3 * nx + 1) * sizeof *plus);
    double *minus = plus + (nx + 6L) * (ny + 6), *work = minus + (nx + 6L) * (ny + 6);
    for (int step = 0; step < steps; step++) {
        double speed = 0;
#pragma omp simd reduction(max : speed)
        for (int i = 0; i < nx * ny; i++) {
            double a = fabs(u[i]);
            speed = a > speed ? a : speed;
        }
        stage(u, u, u1, speed, nx, ny, h, cfl, 0, plus, minus, work);
        stage(u, u1, u2, speed, nx, ny, h, cfl, 0.75, plus, minus, work);
        stage(u, u2, u, speed, nx, ny, h, cfl, 1 / 3., plus, minus, work);
    }
    free(plus);
}
