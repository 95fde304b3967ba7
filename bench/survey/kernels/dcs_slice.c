// Direct Coulomb summation of a slice of a lattice.
#include "native.h"

enum { W = 128 };  // points side by side, whose sums stay in registers or near

void run(const float *restrict atoms, float *restrict energy, int num_atoms, int nx, int ny, float spacing, float z) {
    for (int y = 0; y < ny; y++)
        for (int first = 0; first < nx; first += W) {
            int lanes = MIN(W, nx - first);
            float sum[W] = {0}, at[W];
            for (int i = 0; i < W; i++)
                at[i] = spacing * (first + i);
            for (int n = 0; n < num_atoms; n++) {
                const float *a = atoms + 4 * n;
                float ax = a[0], dy = spacing * y - a[1], dz = a[2] - z, charge = a[3], dyz2 = dy * dy + dz * dz;
#pragma omp simd
                for (int i = 0; i < W; i++) {
                    float dx = at[i] - ax;
                    sum[i] += charge / sqrtf(dx * dx + dyz2);
                }
            }
            for (int i = 0; i < lanes; i++)
                energy[y * nx + first + i] += sum[i];
        }
}
