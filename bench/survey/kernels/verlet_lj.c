#include "native.h"

typedef struct {
    float x, y, z, w;
} float4;

enum { W = 32 };  // atoms side by side, as their lists are

void run(const float4 *restrict position, const int *restrict neighbours, const int *restrict counts,
         float4 *restrict force, int atoms, float box, float cutoff, float epsilon, float sigma) {
    float inv_box = 1 / box, cutoff2 = cutoff * cutoff, sigma2 = sigma * sigma;
    for (int first = 0; first < atoms; first += W) {
        int lanes = MIN(W, atoms - first), most = 0;
        float x[W], y[W], z[W], fx[W] = {0}, fy[W] = {0}, fz[W] = {0}, energy[W] = {0};
        for (int i = 0; i < lanes; i++) {
            x[i] = position[first + i].x;
            y[i] = position[first + i].y;
            z[i] = position[first + i].z;
            most = MAX(most, counts[first + i]);
        }
        for (int k = 0; k < most; k++) {
            const int *list = neighbours + (long)k * atoms + first;
#pragma omp simd
            for (int i = 0; i < lanes; i++) {
                int in = k < counts[first + i], j = in ? list[i] : 0;
                float dx = x[i] - position[j].x, dy = y[i] - position[j].y, dz = z[i] - position[j].z;
                dx -= box * rintf(dx * inv_box);
                dy -= box * rintf(dy * inv_box);
                dz -= box * rintf(dz * inv_box);
                float r2 = dx * dx + dy * dy + dz * dz;
                if (in && r2 < cutoff2) {
                    float inv_r2 = 1 / r2, s2 = sigma2 * inv_r2, s6 = s2 * s2 * s2;
                    float scale = 24 * epsilon * inv_r2 * s6 * (2 * s6 - 1);
                    fx[i] += scale * dx;
                    fy[i] += scale * dy;
                    fz[i] += scale * dz;
                    energy[i] += 2 * epsilon * s6 * (s6 - 1);
                }
            }
        }
        for (int i = 0; i < lanes; i++)
            force[first + i] = (float4){fx[i], fy[i], fz[i], energy[i]};
    }
}
