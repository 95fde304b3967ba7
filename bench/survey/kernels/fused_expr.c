// Damped springs step by step, and sums of blocks of 192.
#include "native.h"

void run(float *restrict x, float *restrict y, float *restrict z, float *restrict vx, float *restrict vy,
         float *restrict vz, const float *restrict mass, float *restrict sums, int n, float k, float c, float rest,
         float dt, int steps) {
    for (int s = 0; s < steps; s++)
#pragma omp simd
        for (int i = 0; i < n; i++) {
            float length = sqrtf(x[i] * x[i] + y[i] * y[i] + z[i] * z[i] + 1e-6f);
            float pull = k * (length - rest) / length;
            vx[i] -= dt * (pull * x[i] + c * vx[i]) / mass[i];
            vy[i] -= dt * (pull * y[i] + c * vy[i]) / mass[i];
            vz[i] -= dt * (pull * z[i] + c * vz[i]) / mass[i];
            x[i] += dt * vx[i];
            y[i] += dt * vy[i];
            z[i] += dt * vz[i];
        }
    for (int block = 0; block * 192 < n; block++) {
        float kinetic = 0, far = 0, turn = 0, weight = 0;
#pragma omp simd reduction(+ : kinetic, far, turn, weight)
        for (int i = block * 192; i < MIN(n, block * 192 + 192); i++) {
            kinetic += 0.5f * mass[i] * (vx[i] * vx[i] + vy[i] * vy[i] + vz[i] * vz[i]);
            far += sqrtf(x[i] * x[i] + y[i] * y[i] + z[i] * z[i]);
            turn += mass[i] * (x[i] * vy[i] - y[i] * vx[i]);
            weight += mass[i];
        }
        sums[4 * block] = kinetic, sums[4 * block + 1] = far, sums[4 * block + 2] = turn, sums[4 * block + 3] = weight;
    }
}
