#include "native.h"

// A slice of dry air in finite volumes, steps of three stages by turns of directions.
enum { HS = 2, DENS, UMOM, WMOM, RHOT };
__attribute__((simd("notinbranch"))) extern double pow(double, double);
#define GAMMA 1.40027894002789400278940027894
#define C0 27.5629410929725921310572974482

static inline double value(const double *p, long s) {
    return -p[0] / 12 + 7 * p[s] / 12 + 7 * p[2 * s] / 12 - p[3 * s] / 12;
}

static inline double third(const double *p, long s) {
    return -p[0] + 3 * p[s] - 3 * p[2 * s] + p[3 * s];
}

static void stage(double *restrict forcing, const double *init, double *out, double *restrict flux,
                  const double *restrict dens, const double *restrict theta, const double *restrict edge_dens,
                  const double *restrict edge_theta, const double *restrict edge_pressure, int nx, int nz,
                  int along_z, double spacing, double hv, double dt) {
    long wide = nx + 2 * HS, plane = wide * (nz + 2 * HS), fwide = nx + 1, fplane = fwide * (nz + 1);
    if (!along_z)
        for (int ll = 0; ll < 4; ll++)
            for (int k = HS; k < nz + HS; k++) {
                double *row = forcing + ll * plane + k * wide;
                row[0] = row[nx];
                row[1] = row[nx + 1];
                row[nx + HS] = row[HS];
                row[nx + HS + 1] = row[HS + 1];
            }
    else
        for (int ll = 0; ll < 4; ll++)
            for (int g = 0; g < 2 * HS; g++) {
                int to = g < HS ? g : nz + g, from = g < HS ? HS : nz + HS - 1;
                double *t = forcing + ll * plane + to * wide, *f = forcing + ll * plane + from * wide;
                for (int i = 0; i < wide; i++)
                    t[i] = ll == WMOM - DENS ? 0 : ll == UMOM - DENS ? f[i] / dens[from] * dens[to] : f[i];
            }
    long s = along_z ? wide : 1;
    for (int k = 0; k < nz + along_z; k++) {
        int edge = along_z && (k == 0 || k == nz), count = nx + !along_z;
        double bd = along_z ? edge_dens[k] : dens[k + HS], bt = along_z ? edge_theta[k] : theta[k + HS];
        double bp = along_z ? edge_pressure[k] : 0;
        const double *first = forcing + (along_z ? k * wide + HS : (k + HS) * wide);
        double *restrict f = flux + k * fwide;
        double mass[count], pressure[count];
#pragma omp simd
        for (int i = 0; i < count; i++) {
            mass[i] = value(first + i, s) + bd;
            pressure[i] = value(first + 3 * plane + i, s) + bt;
        }
#pragma omp simd
        for (int i = 0; i < count; i++)
            pressure[i] = pow(pressure[i], GAMMA);
        double by_x = along_z ? 0 : C0, by_z = along_z ? C0 : 0, keep = edge ? 0 : 1, hv0 = keep * hv;
        const double *way = first + (along_z ? 2 : 1) * plane;
#pragma omp simd
        for (int i = 0; i < count; i++) {
            double r = mass[i], u = value(first + plane + i, s) / r, w = value(first + 2 * plane + i, s) / r;
            double over = keep * value(way + i, s), t = (value(first + 3 * plane + i, s) + bt) / r;
            f[i] = over - hv0 * third(first + i, s);
            f[fplane + i] = over * u + by_x * pressure[i] - hv * third(first + plane + i, s);
            f[2 * fplane + i] = over * w + by_z * pressure[i] - bp - hv * third(first + 2 * plane + i, s);
            f[3 * fplane + i] = over * t - hv * third(first + 3 * plane + i, s);
        }
    }
    long next = along_z ? fwide : 1;
    for (int ll = 3; ll >= 0; ll--)  // momenta need the old density
        for (int k = 0; k < nz; k++) {
            const double *f = flux + ll * fplane + k * fwide;
            long at = ll * plane + (k + HS) * wide + HS;
            const double *heavy = forcing + (k + HS) * wide + HS;
            double gravity = along_z && ll == WMOM - DENS ? 9.8 : 0;
#pragma omp simd
            for (int i = 0; i < nx; i++)
                out[at + i] = init[at + i] + dt * (-(f[i + next] - f[i]) / spacing - heavy[i] * gravity);
        }
}

void run(double *restrict state, double *restrict temporary, double *restrict flux, const double *restrict dens,
         const double *restrict theta, const double *restrict edge_dens, const double *restrict edge_theta,
         const double *restrict edge_pressure, int nx, int nz, double dx, double dz, double dt, int steps) {
    for (int step = 0; step < steps; step++)
        for (int turn = 0; turn < 2; turn++) {
            int along_z = turn ^ (step & 1);
            double spacing = along_z ? dz : dx;
            for (int third = 3; third > 0; third--) {
                double *forcing = third == 3 ? state : temporary, *out = third == 1 ? state : temporary;
                double part = dt / third;
                stage(forcing, state, out, flux, dens, theta, edge_dens, edge_theta, edge_pressure, nx, nz, along_z,
                      spacing, -0.05 * spacing / (16 * part), part);
            }
        }
}
