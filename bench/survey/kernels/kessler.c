// Kessler's rain: 16 columns side by side, each with its own number of small steps; phases along all columns at once.
#include "native.h"
enum { W = 16, MOST = 64 };

__attribute__((simd("notinbranch"))) extern double exp(double);
__attribute__((simd("notinbranch"))) extern double pow(double, double);

static inline double speed_of(double qr, double rho, double rho0) {
    return 36.34 * pow((qr > 0 ? qr : 0) * 0.001 * rho, 0.1364) * sqrt(rho0 / rho);
}

static void fall(double *restrict qr, const double *restrict rho, const double *restrict dz, double *restrict rain,
                 int *restrict substeps, int columns, int levels, double dt) {
    for (int first = 0; first < columns; first += W) {
        int lanes = MIN(W, columns - first), n[W], last = 0;
        double water[MOST][W], speed[MOST][W], density[MOST][W], most[W] = {0}, fallen[W] = {0}, step[W];
        for (int k = 0; k < levels; k++) {
#pragma omp simd
            for (int l = 0; l < W; l++) {
                long at = (long)k * columns + first + (l < lanes ? l : 0);
                water[k][l] = qr[at];
                density[k][l] = rho[at];
                speed[k][l] = speed_of(qr[at], rho[at], density[0][l]);
                double m = speed[k][l] * dt / dz[k];
                most[l] = m > most[l] ? m : most[l];
            }
        }
        for (int l = 0; l < W; l++) {
            n[l] = MAX(1, (int)ceil(most[l] / 0.8));
            step[l] = dt / n[l];
            last = MAX(last, n[l]);
        }
        for (int s = 0; s < last; s++) {
            for (int l = 0; l < W; l++)
                fallen[l] += s < n[l] ? density[0][l] * water[0][l] * speed[0][l] * step[l] : 0;
            double here[W];
            for (int l = 0; l < W; l++)
                here[l] = density[0][l] * water[0][l] * speed[0][l];
            for (int k = 0; k < levels; k++) {
#pragma omp simd
                for (int l = 0; l < W; l++) {
                    double above = k + 1 < levels ? density[k + 1][l] * water[k + 1][l] * speed[k + 1][l] : 0;
                    double w = water[k][l] + step[l] * (above - here[l]) / (density[k][l] * dz[k]);
                    here[l] = above;
                    w = w > 0 ? w : 0;
                    water[k][l] = s < n[l] ? w : water[k][l];
                }
            }
            if (s + 1 < last)
                for (int k = 0; k < levels; k++) {
#pragma omp simd
                    for (int l = 0; l < W; l++)
                        speed[k][l] = speed_of(water[k][l], density[k][l], density[0][l]);
                }
        }
        for (int k = 0; k < levels; k++)
            memcpy(qr + (long)k * columns + first, water[k], lanes * sizeof(double));
        for (int l = 0; l < lanes; l++) {
            rain[first + l] += fallen[l];
            substeps[first + l] = n[l];
        }
    }
}

void run(double *restrict theta, double *restrict qv, double *restrict qc, double *restrict qr,
         const double *restrict rho, const double *restrict exner, const double *restrict dz, double *restrict rain,
         int *restrict substeps, int columns, int levels, double dt, double latent, double cp, double autoconversion,
         double threshold, double accretion) {
    fall(qr, rho, dz, rain, substeps, columns, levels, dt);
    const double heat = latent / cp;
#pragma omp simd
    for (int at = 0; at < columns * levels; at++) {
        double pi = exner[at], density = rho[at], pressure = 100000 * pow(pi, 1004.0 / 287);
        double t = theta[at] * pi, vapour = qv[at], cloud = qc[at], water = qr[at];
        double made = autoconversion * (cloud - threshold);
        made = made > 0 ? made : 0;
        double product = cloud - (cloud - dt * made) / (1 + dt * accretion * pow(water, 0.875));
        product = product < cloud ? product : cloud;
        product = cloud > 0 ? product : 0;
        cloud -= product;
        water += product;
        double qvs = 380 / pressure * exp(17.27 * (t - 273) / (t - 36));
        double lack = 1 + qvs * heat * 4093 / ((t - 36) * (t - 36)), change = (vapour - qvs) / lack;
        int condenses = (change > 0) | (cloud > 0);
        change = change > -cloud ? change : -cloud;
        change = condenses ? change : 0;
        vapour -= change;
        cloud += change;
        t += heat * change;
        int dries = (water > 1e-10) & (cloud <= 0) & (vapour < qvs);
        double drops = water * density * 0.001, ventilation = 1.6 + 30.3922 * pow(drops, 0.2046);
        double gone = dt * ventilation * pow(drops, 0.525) * (1 - vapour / qvs) /
                      ((2.55e8 / (pressure * qvs) + 5.4e5) * density * 0.001);
        double room = (qvs - vapour) / lack;
        room = room < water ? room : water;
        gone = gone < room ? gone : room;
        gone = dries ? gone : 0;
        theta[at] = (t - heat * gone) / pi;
        qv[at] = vapour + gone;
        qc[at] = cloud;
        qr[at] = water - gone;
    }
}
