// Bodies that attract each other, by Hermite's integrator of fourth order: a list for each coordinate.
#include "native.h"

enum { PLACE, SPEED = 3, MASS = 6, BODY = 7, FORCE = 6 };

static void forces(const double *restrict p, double *restrict force, int n, double eps2) {
    const double *restrict x = p, *restrict y = p + n, *restrict z = p + 2 * n, *restrict u = p + 3 * n,
                 *restrict v = p + 4 * n, *restrict w = p + 5 * n, *restrict mass = p + 6 * n;
    for (int i = 0; i < n; i++) {
        double ax = 0, ay = 0, az = 0, jx = 0, jy = 0, jz = 0;
#pragma omp simd reduction(+ : ax, ay, az, jx, jy, jz)
        for (int j = 0; j < n; j++) {
            double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
            double du = u[j] - u[i], dv = v[j] - v[i], dw = w[j] - w[i];
            double inv2 = 1 / (dx * dx + dy * dy + dz * dz + eps2), m = mass[j] * inv2 * sqrt(inv2);
            double rv = 3 * (dx * du + dy * dv + dz * dw) * inv2;
            ax += dx * m;
            ay += dy * m;
            az += dz * m;
            jx += (du - dx * rv) * m;
            jy += (dv - dy * rv) * m;
            jz += (dw - dz * rv) * m;
        }
        double *f = force + (long)FORCE * i;
        f[0] = ax, f[1] = ay, f[2] = az, f[3] = jx, f[4] = jy, f[5] = jz;
    }
}

void run(double *restrict body, double *restrict force, int n, int steps, double dt, double eps2) {
    double *restrict p = malloc((size_t)BODY * n * sizeof *p), *restrict after = malloc((size_t)FORCE * n * sizeof *p);
    for (int s = -1; s < steps; s++) {
        double h = s < 0 ? 0 : dt;
        for (int i = 0; i < n; i++) {
            const double *b = body + (long)BODY * i, *f = force + (long)FORCE * i;
            for (int k = 0; k < 3; k++) {
                p[k * n + i] = b[k] + b[3 + k] * h + f[k] * (h * h / 2) + f[3 + k] * (h * h * h / 6);
                p[(3 + k) * n + i] = b[3 + k] + f[k] * h + f[3 + k] * (h * h / 2);
            }
            p[6 * n + i] = b[6];
        }
        forces(p, after, n, eps2);
        for (int i = 0; i < n && s >= 0; i++) {
            double *b = body + (long)BODY * i;
            const double *f0 = force + (long)FORCE * i, *f1 = after + (long)FORCE * i;
            for (int k = 0; k < 3; k++) {
                double speed = b[3 + k] + (f0[k] + f1[k]) * (dt / 2) + (f0[3 + k] - f1[3 + k]) * (dt * dt / 12);
                b[k] += (b[3 + k] + speed) * (dt / 2) + (f0[k] - f1[k]) * (dt * dt / 12);
                b[3 + k] = speed;
            }
        }
        memcpy(force, after, (size_t)FORCE * n * sizeof *force);
    }
    free(p);
    free(after);
}
