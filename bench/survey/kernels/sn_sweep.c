// Discrete ordinates: cells in the order of each octant, eight angles at once.
#include "native.h"
enum { A = 8 };
static const double mu[A] = {0.1389568, 0.3922893, 0.5370966, 0.6504264, 0.7467506, 0.8319966, 0.9092855, 0.2561429};
static const double eta[A] = {0.3922893, 0.8319966, 0.6504264, 0.1389568, 0.5370966, 0.2561429, 0.3922893, 0.9092855};
static const double xi[A] = {0.9092855, 0.3922893, 0.5370966, 0.7467506, 0.3922893, 0.4921100, 0.1389568, 0.3283000};
static const double weight[A] = {0.0176, 0.0188, 0.0139, 0.0103, 0.0155, 0.0141, 0.0176, 0.0172};

void run(const double *restrict total, const double *restrict fixed, const double *restrict scatter,
         double *restrict phi, double *restrict source, int nx, int ny, int nz, double ix, double iy, double iz,
         int rounds) {
    int n = nx * ny * nz;
    double *room = malloc((ny * nx + nx + 1L) * A * sizeof(double)), *px, *py = room, *pz = py + nx * A;
    double a[A], b[A], c[A], sum[A];
    for (int m = 0; m < A; m++) {
        a[m] = mu[m] * ix, b[m] = eta[m] * iy, c[m] = xi[m] * iz;
        sum[m] = a[m] + b[m] + c[m];
    }
    for (int i = 0; i < n; i++)
        source[i] = fixed[i] + scatter[i] * phi[i];
    for (int round = 0; round < rounds; round++) {
        memset(phi, 0, n * sizeof(double));
        for (int octant = 0; octant < 8; octant++) {
            memset(pz, 0, (long)nx * ny * A * sizeof(double));
            for (int kk = 0; kk < nz; kk++) {
                int k = octant & 4 ? nz - 1 - kk : kk;
                memset(py, 0, nx * A * sizeof(double));
                for (int jj = 0; jj < ny; jj++) {
                    int j = octant & 2 ? ny - 1 - jj : jj;
                    double x[A] = {0};
                    for (int ii = 0; ii < nx; ii++) {
                        int i = octant & 1 ? nx - 1 - ii : ii;
                        long cell = ((long)k * ny + j) * nx + i;
                        double *restrict y = py + i * A, *restrict z = pz + ((long)j * nx + i) * A;
                        double q = source[cell], s = total[cell], all = 0;
#pragma omp simd reduction(+ : all)
                        for (int m = 0; m < A; m++) {
                            double psi = (q + a[m] * x[m] + b[m] * y[m] + c[m] * z[m]) / (s + sum[m]);
                            double nx_ = 2 * psi - x[m], ny_ = 2 * psi - y[m], nz_ = 2 * psi - z[m];
                            x[m] = nx_ > 0 ? nx_ : 0;
                            y[m] = ny_ > 0 ? ny_ : 0;
                            z[m] = nz_ > 0 ? nz_ : 0;
                            all += weight[m] * psi;
                        }
                        phi[cell] += all;
                    }
                }
            }
        }
        for (int i = 0; i < n; i++)
            source[i] = fixed[i] + scatter[i] * phi[i];
    }
    free(room);
}
