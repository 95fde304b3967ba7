#include "native.h"

enum { W = 8 };  // molecules side by side

#define D(a, b) (a[0] * b[0] + a[1] * b[1] + a[2] * b[2])

void run(double *restrict pos, double *restrict vel, const double *restrict force, int molecules, double dt, double mO,
         double mH, double dOH, double dHH, int steps) {
    const double total = mO + 2 * mH, height = sqrt(dOH * dOH - 0.25 * dHH * dHH), ra = 2 * mH * height / total,
                 rb = height - ra, rc = 0.5 * dHH;
    for (int step = 0; step < steps; step++)
        for (int first = 0; first < molecules; first += W) {
            int lanes = MIN(W, molecules - first);
            double old[9][W], v[9][W], now[9][W], com[3][W], after[9][W];
            for (int l = 0; l < W; l++) {
                int m = first + MIN(l, lanes - 1);
                for (int k = 0; k < 9; k++) {
                    old[k][l] = pos[9 * m + k];
                    v[k][l] = vel[9 * m + k] + dt * (1 / (k < 3 ? mO : mH)) * force[9 * m + k];
                }
            }
#pragma omp simd
            for (int l = 0; l < W; l++) {
                double p[9], a1[3], b1[3], c1[3], ob[3], oc[3];
                for (int k = 0; k < 9; k++)
                    now[k][l] = p[k] = old[k][l] + dt * v[k][l];
                for (int k = 0; k < 3; k++) {
                    com[k][l] = 1 / total * (mO * p[k] + mH * (p[3 + k] + p[6 + k]));
                    a1[k] = p[k] - com[k][l];
                    b1[k] = p[3 + k] - com[k][l];
                    c1[k] = p[6 + k] - com[k][l];
                    ob[k] = old[3 + k][l] - old[k][l];
                    oc[k] = old[6 + k][l] - old[k][l];
                }
                double z[3] = {ob[1] * oc[2] - ob[2] * oc[1], ob[2] * oc[0] - ob[0] * oc[2],
                               ob[0] * oc[1] - ob[1] * oc[0]};
                double x[3] = {a1[1] * z[2] - a1[2] * z[1], a1[2] * z[0] - a1[0] * z[2], a1[0] * z[1] - a1[1] * z[0]};
                double y[3] = {z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]};
                double sx = 1 / sqrt(D(x, x)), sy = 1 / sqrt(D(y, y)), sz = 1 / sqrt(D(z, z));
                for (int k = 0; k < 3; k++) {
                    x[k] *= sx;
                    y[k] *= sy;
                    z[k] *= sz;
                }
                double bx = D(x, ob), by = D(y, ob), cx = D(x, oc), cy = D(y, oc);
                double az = D(z, a1), b1x = D(x, b1), b1y = D(y, b1), b1z = D(z, b1);
                double c1x = D(x, c1), c1y = D(y, c1), c1z = D(z, c1);
                double sp = az / ra, cp = sqrt(1 - sp * sp), ss = (b1z - c1z) / (2 * rc * cp), cs = sqrt(1 - ss * ss);
                double ya = ra * cp, xb = -rc * cs, yb = -rb * cp - rc * ss * sp, yc = -rb * cp + rc * ss * sp;
                double zb = -rb * sp + rc * ss * cp, zc = -rb * sp - rc * ss * cp;
                double alpha = xb * (bx - cx) + by * yb + cy * yc, beta = xb * (cy - by) + bx * yb + cx * yc;
                double gamma = bx * b1y - b1x * by + cx * c1y - c1x * cy, both = alpha * alpha + beta * beta;
                double st = (alpha * gamma - beta * sqrt(both - gamma * gamma)) / both, ct = sqrt(1 - st * st);
                double in[3][3] = {{-ya * st, ya * ct, az},
                                   {xb * ct - yb * st, xb * st + yb * ct, zb},
                                   {-xb * ct - yc * st, -xb * st + yc * ct, zc}};
                for (int k = 0; k < 3; k++)
                    for (int c = 0; c < 3; c++)
                        after[3 * k + c][l] = com[c][l] + (x[c] * in[k][0] + y[c] * in[k][1] + z[c] * in[k][2]);
            }
            for (int l = 0; l < lanes; l++)
                for (int k = 0; k < 9; k++) {
                    pos[9 * (first + l) + k] = after[k][l];
                    vel[9 * (first + l) + k] = v[k][l] + 1 / dt * (after[k][l] - now[k][l]);
                }
        }
}
