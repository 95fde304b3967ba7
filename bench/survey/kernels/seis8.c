// Acoustic waves of the eighth order: row after row, in vectors along x.
#include "native.h"
enum { R = 4 };

static double taper(int i, int n, int width, double strength) {
    int edge = MIN(i - R, n - R - 1 - i);
    double x = (double)(width - edge) / width;
    return edge >= width ? 0 : strength * x * x;
}

static void step(const double *restrict p, double *restrict old, const double *restrict vel2, int nx, int ny, int nz,
                 double scale, int width, double strength, const double *restrict damp_x) {
    const double c0 = 3 * (-205.0 / 72), c1 = 8.0 / 5, c2 = -1.0 / 5, c3 = 8.0 / 315, c4 = -1.0 / 560;
    const long sy = nx, sz = (long)nx * ny;
    for (int k = R; k < nz - R; k++)
        for (int j = R; j < ny - R; j++) {
            const double *q = p + k * sz + j * sy;
            double *o = old + k * sz + j * sy;
            const double *v = vel2 + k * sz + j * sy;
            double damp_yz = taper(j, ny, width, strength), damp_z = taper(k, nz, width, strength);
#pragma omp simd
            for (int i = R; i < nx - R; i++) {
#define RING(r) (q[i - r * sz] + q[i + r * sz] + q[i - r] + q[i + r] + q[i - r * sy] + q[i + r * sy])
                double lap = c0 * q[i] + c1 * RING(1) + c2 * RING(2) + c3 * RING(3) + c4 * RING(4);
                double damp = damp_x[i] + damp_yz + damp_z;
                o[i] = (2 * q[i] - (1 - damp) * o[i] + scale * v[i] * lap) / (1 + damp);
            }
        }
}

void run(double *restrict p, double *restrict q, const double *restrict vel2, const int *restrict places,
         float *restrict trace, float *restrict slices, int nx, int ny, int nz, int steps, int receivers, int si,
         int sj, int sk, double scale, int width, double strength, double dt, double frequency) {
    double *damp_x = malloc(nx * sizeof(double)), *now = p, *old = q;
    for (int i = 0; i < nx; i++)
        damp_x[i] = taper(i, nx, width, strength);
#define AT(i, j, k) (((long)(k)*ny + (j)) * nx + (i))
    for (int s = 0; s < steps; s++) {
        step(now, old, vel2, nx, ny, nz, scale, width, strength, damp_x);
        double *next = old, a = 3.14159265358979323846 * frequency * (s * dt - 1 / frequency);
        old = now, now = next;
        now[AT(si, sj, sk)] += (1 - 2 * a * a) * exp(-a * a);
        for (int t = 0; t < receivers; t++)
            trace[s * receivers + t] = now[AT(places[3 * t], places[3 * t + 1], places[3 * t + 2])];
        if (s & 1)
            for (int k = 0; k < nz; k++)
                for (int i = 0; i < nx; i++)
                    slices[((long)(s / 2) * nz + k) * nx + i] = now[AT(i, sj, k)];
    }
    free(damp_x);
}
