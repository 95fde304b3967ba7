// Elastic waves on a staggered grid: fields are copied into arrays with two more rows and columns on all sides, so that
// nothing asks for borders; rows in vectors.
#include "native.h"
enum { R = 2 };
#define C1 1.125f
#define C2 (-1.0f / 24)
#define DIFF(A, s) (C1 * (A[i] - A[i - (s)]) + C2 * (A[i + (s)] - A[i - 2 * (s)]))  // half a cell before
#define DIFF_AFTER(A, s) (C1 * (A[i + (s)] - A[i]) + C2 * (A[i + 2 * (s)] - A[i - (s)]))

static void velocity(float *restrict vx, float *restrict vz, const float *restrict xx, const float *restrict zz,
                     const float *restrict xz, const float *restrict buoyancy, const float *restrict sponge, int nx,
                     long s, float dt_h) {
#pragma omp simd
    for (int i = 0; i < nx; i++) {
        float b = buoyancy[i] * dt_h, damp = sponge[i];
        vx[i] = damp * (vx[i] + b * (DIFF(xx, 1) + DIFF(xz, s)));
        vz[i] = damp * (vz[i] + b * (DIFF_AFTER(xz, 1) + DIFF_AFTER(zz, s)));
    }
}

static void stress(const float *restrict vx, const float *restrict vz, float *restrict xx, float *restrict zz,
                   float *restrict xz, const float *restrict lambda, const float *restrict mu,
                   const float *restrict sponge, int nx, long s, float dt_h) {
#pragma omp simd
    for (int i = 0; i < nx; i++) {
        float dvx = DIFF_AFTER(vx, 1), dvz = DIFF(vz, s), la = lambda[i], m = mu[i], damp = sponge[i];
        xx[i] = damp * (xx[i] + dt_h * ((la + 2 * m) * dvx + la * dvz));
        zz[i] = damp * (zz[i] + dt_h * (la * dvx + (la + 2 * m) * dvz));
        xz[i] = damp * (xz[i] + dt_h * m * (DIFF_AFTER(vx, s) + DIFF(vz, 1)));
    }
}

void run(float *vx, float *vz, float *sxx, float *szz, float *sxz, const float *buoyancy, const float *lambda,
         const float *mu, const float *sponge, const float *wavelet, int nx, int nz, float dt_h, int source_x,
         int source_z, int steps) {
    long s = (nx + 2 * R + 15) / 16 * 16, size = s * (nz + 2 * R);
    float *own = calloc(5 * size, sizeof(float)), *outside[5] = {vx, vz, sxx, szz, sxz}, *f[5];
    for (int k = 0; k < 5; k++) {
        f[k] = own + k * size + R * s + R;
        for (int z = 0; z < nz; z++)
            memcpy(f[k] + z * s, outside[k] + (long)z * nx, nx * sizeof(float));
    }
    for (int t = 0; t < steps; t++) {
        for (int z = 0; z < nz; z++) {
            long at = z * s, p = (long)z * nx;
            velocity(f[0] + at, f[1] + at, f[2] + at, f[3] + at, f[4] + at, buoyancy + p, sponge + p, nx, s, dt_h);
        }
        for (int z = 0; z < nz; z++) {
            long at = z * s, p = (long)z * nx;
            stress(f[0] + at, f[1] + at, f[2] + at, f[3] + at, f[4] + at, lambda + p, mu + p, sponge + p, nx, s, dt_h);
        }
        f[2][source_z * s + source_x] += wavelet[t];
        f[3][source_z * s + source_x] += wavelet[t];
    }
    for (int k = 0; k < 5; k++)
        for (int z = 0; z < nz; z++)
            memcpy(outside[k] + (long)z * nx, f[k] + z * s, nx * sizeof(float));
    free(own);
}
