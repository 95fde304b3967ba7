#include "native.h"

enum { W = 64, POINTS = 256 };  // options side by side

void run(const double *restrict spot, const double *restrict strike, const double *restrict rate,
         const double *restrict sigma, const double *restrict maturity, double *restrict value,
         double *restrict price, int options, int points, int steps) {
    static double c_star[POINTS][W], d_star[POINTS][W];
    for (int first = 0; first < options; first += W) {
        int lanes = MIN(W, options - first);
        const double *k = strike + first, *r = rate + first;
        double *v = value + first;
        double dt[W], s2[W], ds[W], next[W];
        for (int i = 0; i < lanes; i++) {
            s2[i] = sigma[first + i] * sigma[first + i];
            dt[i] = maturity[first + i] / steps;
            ds[i] = 3 * k[i] / (points - 1);
        }
        for (int j = 0; j < points; j++)
            for (int i = 0; i < lanes; i++)
                v[(long)j * options + i] = MAX(k[i] - j * ds[i], 0);
        for (int t = 0; t < steps; t++) {
            for (int i = 0; i < lanes; i++) {
                c_star[0][i] = 0;
                d_star[0][i] = v[i];
            }
            for (int j = 1; j < points - 1; j++) {
                const double *at = v + (long)j * options, *last = at - options, *after = at + options;
                const double *c_last = c_star[j - 1], *d_last = d_star[j - 1];
                double *c_new = c_star[j], *d_new = d_star[j];
#pragma omp simd
                for (int i = 0; i < lanes; i++) {
                    double alpha = 0.25 * dt[i] * (s2[i] * j * j - r[i] * j);
                    double beta = -0.5 * dt[i] * (s2[i] * j * j + r[i]);
                    double gamma = 0.25 * dt[i] * (s2[i] * j * j + r[i] * j);
                    double rhs = alpha * last[i] + (1 + beta) * at[i] + gamma * after[i];
                    double m = 1 / (1 - beta + alpha * c_last[i]);
                    c_new[i] = -gamma * m;
                    d_new[i] = (rhs + alpha * d_last[i]) * m;
                }
            }
            for (int i = 0; i < lanes; i++)
                next[i] = v[(long)(points - 1) * options + i] = 0;
            for (int j = points - 2; j >= 0; j--) {
                double *out = v + (long)j * options;
#pragma omp simd
                for (int i = 0; i < lanes; i++) {
                    double held = d_star[j][i] - c_star[j][i] * next[i], now = k[i] - j * ds[i];
                    out[i] = next[i] = held > now ? held : now;
                }
            }
        }
        for (int i = 0; i < lanes; i++) {
            double at = spot[first + i] / ds[i];
            int j = MIN((int)at, points - 2);
            double part = at - j;
            price[first + i] = (1 - part) * v[(long)j * options + i] + part * v[(long)(j + 1) * options + i];
        }
    }
}
