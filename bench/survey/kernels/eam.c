// EAM forces: the neighbours of a cell are gathered with their places as seen from it, those within reach of an atom
// are listed without branches, and the list is worked off in vectors; kept for the second pass.
#include "native.h"
enum { MAX_ATOMS = 16, MOST = 27 * MAX_ATOMS };

static inline double derivative(const double *t, double g, double inv_dx) {
    int i = g;
    double r = g - i, g1 = t[i + 1] - t[i - 1];
    return 0.5 * (g1 + r * (t[i + 2] - t[i] - g1)) * inv_dx;
}

static inline double value(const double *t, double g) {
    int i = g;
    double r = g - i;
    return t[i] + 0.5 * r * (t[i + 1] - t[i - 1] + r * (t[i + 1] + t[i - 1] - 2 * t[i]));
}

// Where in a table: what is out of it takes its end.
static inline double at(double r, double x0, double inv_dx, int n) {
    r = r > x0 ? (r - x0) * inv_dx : 0;
    return r < n + 1 ? r : n + n / inv_dx - floor(n / inv_dx);
}

void run(const double *restrict rx, const double *restrict ry, const double *restrict rz, const int *restrict count,
         double *restrict fx, double *restrict fy, double *restrict fz, double *restrict energy,
         double *restrict rho_bar, double *restrict df_embed, const double *phi, const double *rho,
         const double *embed, double x0, double inv_dx, int entries, double f_x0, double f_inv_dx, int f_entries,
         int nx, int ny, int nz, double lx, double ly, double lz, double cutoff2) {
    phi++, rho++, embed++;
    int boxes = nx * ny * nz, room = 1 << 16;
    long used = 0;
    long *from = malloc((boxes * MAX_ATOMS + 1L) * sizeof(long));
    int *partner = malloc(room * sizeof(int));
    double *pair = malloc(4L * room * sizeof(double));  // the way there and its length's inverse times the slope
    for (int home = 0; home < boxes; home++) {
        double x[MOST], y[MOST], z[MOST];
        int who[MOST], near = 0, bx = home % nx, by = home / nx % ny, bz = home / (nx * ny);
        for (int k = 0; k < 27; k++) {
            int ox = bx + k % 3 - 1, oy = by + k / 3 % 3 - 1, oz = bz + k / 9 - 1;
            double sx = ox < 0 ? -lx : ox >= nx ? lx : 0, sy = oy < 0 ? -ly : oy >= ny ? ly : 0;
            double sz = oz < 0 ? -lz : oz >= nz ? lz : 0;
            int other = ((oz + nz) % nz * ny + (oy + ny) % ny) * nx + (ox + nx) % nx;
            for (int j = other * MAX_ATOMS; j < other * MAX_ATOMS + count[other]; j++) {
                x[near] = rx[j] + sx, y[near] = ry[j] + sy, z[near] = rz[j] + sz;
                who[near++] = j;
            }
        }
        for (int i = home * MAX_ATOMS; i < home * MAX_ATOMS + count[home]; i++) {
            double r2[MOST], dx[MOST], dy[MOST], dz[MOST], d2[MOST];
            int listed = 0, other[MOST];
#pragma omp simd
            for (int j = 0; j < near; j++) {
                double px = rx[i] - x[j], py = ry[i] - y[j], pz = rz[i] - z[j];
                r2[j] = px * px + py * py + pz * pz;
            }
            for (int j = 0; j < near; j++) {
                dx[listed] = rx[i] - x[j], dy[listed] = ry[i] - y[j], dz[listed] = rz[i] - z[j];
                d2[listed] = r2[j];
                other[listed] = who[j];
                listed += r2[j] <= cutoff2 && r2[j] > 0;
            }
            if (used + listed > room) {
                room *= 2;
                partner = realloc(partner, room * sizeof(int));
                pair = realloc(pair, 4L * room * sizeof(double));
            }
            memcpy(partner + used, other, listed * sizeof(int));
            double ax = 0, ay = 0, az = 0, e = 0, density = 0, slope[MOST];
#pragma omp simd reduction(+ : ax, ay, az, e, density)
            for (int j = 0; j < listed; j++) {
                double r = sqrt(d2[j]), g = at(r, x0, inv_dx, entries);
                double f = derivative(phi, g, inv_dx) / r;
                slope[j] = derivative(rho, g, inv_dx) / r;
                ax -= f * dx[j], ay -= f * dy[j], az -= f * dz[j];
                e += 0.5 * value(phi, g);
                density += value(rho, g);
            }
            from[i] = used;
            for (int j = 0; j < listed; j++, used++) {
                double *p = pair + 4 * used;
                p[0] = dx[j], p[1] = dy[j], p[2] = dz[j], p[3] = slope[j];
            }
            from[i + 1] = used;
            double g = at(density, f_x0, f_inv_dx, f_entries);
            fx[i] = ax, fy[i] = ay, fz[i] = az;
            rho_bar[i] = density;
            energy[i] = e + value(embed, g);
            df_embed[i] = derivative(embed, g, f_inv_dx);
        }
    }
    for (int home = 0; home < boxes; home++)
        for (int i = home * MAX_ATOMS; i < home * MAX_ATOMS + count[home]; i++) {
            double ax = 0, ay = 0, az = 0;
            for (long j = from[i]; j < from[i + 1]; j++) {
                const double *p = pair + 4 * j;
                double f = -(df_embed[i] + df_embed[partner[j]]) * p[3];
                ax += f * p[0], ay += f * p[1], az += f * p[2];
            }
            fx[i] += ax, fy[i] += ay, fz[i] += az;
        }
    free(from);
    free(partner);
    free(pair);
}
