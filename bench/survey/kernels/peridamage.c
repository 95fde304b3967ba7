#include "native.h"

// A brittle body in peridynamics: forces along bonds, which break, and moves of the points.
enum { FAMILY = 128 };

void run(int *restrict nlist, const int *restrict family, const double *restrict x, double *restrict disp,
         double *restrict velocity, const double *restrict volume, double *restrict force, int *restrict n_neigh,
         double *restrict damage, const uchar *restrict kind, int nodes, double stiffness, double critical,
         double density, double damping, double pull, double dt, int steps) {
    for (int step = 0; step < steps; step++) {
        for (int node = 0; node < nodes; node++) {
            int *restrict list = nlist + (size_t)node * FAMILY, alive = 0;
            double fx = 0, fy = 0, fz = 0, x0 = x[3 * node], y0 = x[3 * node + 1], z0 = x[3 * node + 2];
            double u0 = disp[3 * node], v0 = disp[3 * node + 1], w0 = disp[3 * node + 2];
#pragma omp simd reduction(+ : fx, fy, fz, alive)
            for (int k = 0; k < FAMILY; k++) {
                int there = list[k] >= 0, o = there ? list[k] : 0;
                double rx = x[3 * o] - x0, ry = x[3 * o + 1] - y0, rz = x[3 * o + 2] - z0;
                double nx = rx + disp[3 * o] - u0, ny = ry + disp[3 * o + 1] - v0, nz = rz + disp[3 * o + 2] - w0;
                double ref = sqrt(rx * rx + ry * ry + rz * rz), now = sqrt(nx * nx + ny * ny + nz * nz);
                double stretch = (now - ref) / ref, f = stiffness * stretch * volume[o] / now;
                int whole = there & !(stretch > critical);
                f = whole ? f : 0;
                fx += whole ? f * nx : 0;
                fy += whole ? f * ny : 0;
                fz += whole ? f * nz : 0;
                alive += whole;
                list[k] = whole ? o : -1;
            }
            force[3 * node] = fx;
            force[3 * node + 1] = fy;
            force[3 * node + 2] = fz;
            n_neigh[node] = alive;
            damage[node] = 1 - (double)alive / family[node];
        }
        for (int node = 0; node < nodes; node++)
            if (kind[node] == 0)
                for (int t = 3 * node; t < 3 * node + 3; t++) {
                    velocity[t] += dt * (force[t] - damping * velocity[t]) / density;
                    disp[t] += dt * velocity[t];
                }
            else
                disp[3 * node] += kind[node] == 1 ? -dt * pull : dt * pull;
    }
}
