// Two streams: eight columns side by side in a band, all of whose layers stay in the cache.
#include "native.h"
enum { W = 8, MOST = 48 };

__attribute__((simd("notinbranch"))) extern double exp(double);

static void band(const double *restrict tau_, const double *restrict ssa, const double *restrict asymmetry,
                 const double *restrict mu0, const double *restrict albedo, double solar, double *restrict net,
                 int columns, int layers, int first) {
    int lanes = MIN(W, columns - first);
    double rd[MOST][W], td[MOST][W], rb[MOST][W], tb[MOST][W], direct[MOST + 1][W], reflect[MOST + 1][W];
    double source[MOST + 1][W], denominator[MOST][W], mu[W], day[W], falling[W] = {0};
    for (int l = 0; l < W; l++) {
        int c = first + (l < lanes ? l : 0);
        mu[l] = mu0[c] > 0 ? mu0[c] : 1;
        day[l] = mu0[c] > 0 && l < lanes;
        direct[0][l] = solar * mu[l];
        reflect[layers][l] = albedo[c];
    }
    for (int k = 0; k < layers; k++) {
#pragma omp simd
        for (int l = 0; l < W; l++) {
            long at = (long)k * columns + first + (l < lanes ? l : 0);
            double w = ssa[at], g = asymmetry[at], f = g * g, tau = tau_[at] * (1 - w * f);
            w = w * (1 - f) / (1 - w * f);
            g = g / (1 + g);
            double g1 = 0.25 * (7 - w * (4 + 3 * g)), g2 = -0.25 * (1 - w * (4 - 3 * g));
            double g3 = 0.25 * (2 - 3 * g * mu[l]), g4 = 1 - g3, square = (g1 - g2) * (g1 + g2);
            double s = sqrt(square > 1e-12 ? square : 1e-12), e = exp(-tau * s), e2 = e * e;
            double bottom = 1 / ((s + g1) + (s - g1) * e2), none = exp(-tau / mu[l]);
            double a1 = g1 * g4 + g2 * g3, a2 = g1 * g3 + g2 * g4, sm = s * mu[l], rest = 1 - sm * sm;
            rest = fabs(rest) < 1e-8 ? 1e-8 : rest;
            double scale = w * bottom / rest, s3 = s * g3, s4 = s * g4;
            double r = scale * ((1 - sm) * (a2 + s3) - (1 + sm) * (a2 - s3) * e2 - 2 * (s3 - a2 * sm) * e * none);
            double t = -scale * ((1 + sm) * (a1 + s4) * none - (1 - sm) * (a1 - s4) * e2 * none -
                                 2 * (s4 + a1 * sm) * e);
            r = r < 1 - none ? r : 1 - none;
            r = r > 0 ? r : 0;
            t = t < 1 - none - r ? t : 1 - none - r;
            rd[k][l] = g2 * (1 - e2) * bottom;
            td[k][l] = 2 * s * e * bottom;
            rb[k][l] = r;
            tb[k][l] = t > 0 ? t : 0;
            direct[k + 1][l] = direct[k][l] * none;
        }
    }
    for (int l = 0; l < W; l++)
        source[layers][l] = reflect[layers][l] * direct[layers][l];
    for (int k = layers - 1; k >= 0; k--) {
#pragma omp simd
        for (int l = 0; l < W; l++) {
            double d = denominator[k][l] = 1 / (1 - rd[k][l] * reflect[k + 1][l]);
            reflect[k][l] = rd[k][l] + td[k][l] * td[k][l] * reflect[k + 1][l] * d;
            source[k][l] = rb[k][l] * direct[k][l] +
                           td[k][l] * d * (source[k + 1][l] + reflect[k + 1][l] * tb[k][l] * direct[k][l]);
        }
    }
    for (int l = 0; l < lanes; l++)
        net[first + l] += day[l] * (direct[0][l] - source[0][l]);
    for (int k = 0; k < layers; k++) {
        double *to = net + (long)(k + 1) * columns + first, flux[W];
#pragma omp simd
        for (int l = 0; l < W; l++) {
            falling[l] = (td[k][l] * falling[l] + rd[k][l] * source[k + 1][l] + tb[k][l] * direct[k][l]) *
                         denominator[k][l];
            flux[l] = day[l] * (falling[l] + direct[k + 1][l] - falling[l] * reflect[k + 1][l] - source[k + 1][l]);
        }
        for (int l = 0; l < lanes; l++)
            to[l] += flux[l];
    }
}

void run(const double *restrict tau, const double *restrict ssa, const double *restrict asymmetry,
         const double *restrict mu0, const double *restrict albedo, const double *restrict solar,
         const double *restrict pressure, double *restrict net, float *restrict heating, int columns, int layers,
         int bands) {
    memset(net, 0, (long)columns * (layers + 1) * sizeof(double));
    for (int first = 0; first < columns; first += W)
        for (int b = 0; b < bands; b++) {
            long base = (long)b * layers * columns;
            band(tau + base, ssa + base, asymmetry + base, mu0, albedo, solar[b], net, columns, layers, first);
        }
#pragma omp simd
    for (int i = 0; i < columns * layers; i++)
        heating[i] = 86400 * 9.81 / 1004 * (net[i] - net[i + columns]) / (pressure[i + columns] - pressure[i]);
}
