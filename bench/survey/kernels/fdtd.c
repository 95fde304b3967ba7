#include "native.h"

void run(float *restrict ez, float *restrict hx, float *restrict hy, const float *restrict ce, int nx, int ny,
         float c, int steps) {
    for (int s = 0; s < steps; s++) {
        for (int y = 0; y < ny - 1; y++)
            for (int x = 0; x < nx - 1; x++) {
                int i = y * nx + x;
                hx[i] -= c * (ez[i + nx] - ez[i]);
                hy[i] += c * (ez[i + 1] - ez[i]);
            }
        for (int y = 1; y < ny - 1; y++)
            for (int x = 1; x < nx - 1; x++) {
                int i = y * nx + x;
                ez[i] += ce[i] * (hy[i] - hy[i - 1] - hx[i] + hx[i - nx]);
            }
    }
}
