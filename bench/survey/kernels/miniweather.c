#include "native.h"

// A slice of dry air in finite volumes, steps of three stages by turns of directions.
enum { HS = 2, DENS, UMOM, WMOM, RHOT };
__attribute__((simd("notinbranch"))) extern double pow(double, double);
#define GAMMA 1.40027894002789400278940027894
#define C0 27.5629410929725921310572974482

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
#pragma omp simd
        for (int i = 0; i < count; i++) {
            double vals[4], third[4];
            for (int ll = 0; ll < 4; ll++) {
                const double *p = first + ll * plane + i;
                double a = p[0], b = p[s], c = p[2 * s], d = p[3 * s];
                vals[ll] = -a / 12 + 7 * b / 12 + 7 * c / 12 - d / 12;
                third[ll] = -a + 3 * b - 3 * c + d;
            }
            double r = vals[0] + bd, u = vals[1] / r, w = vals[2] / r, t = (vals[3] + bt) / r;
            double p = C0 * pow(r * t, GAMMA) - bp, over = along_z ? (edge ? 0 : w) : u;
            double first_third = edge ? 0 : third[0];
            f[i] = r * over - hv * first_third;
            f[fplane + i] = r * over * u + (along_z ? 0 : p) - hv * third[1];
            f[2 * fplane + i] = r * over * (edge ? 0 : w) + (along_z ? p : 0) - hv * third[2];
            f[3 * fplane + i] = r * over * t - hv * third[3];
        }
    }
    long next = along_z ? fwide : 1;
    for (int ll = 0; ll < 4; ll++)
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
