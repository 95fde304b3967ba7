// Rigid water: eight molecules side by side in SHAKE, each of which stays as it is once its constraints hold.
#include "native.h"
enum { W = 8, MAX_ITER = 50, BLOCK = 128 };
static const int from[3] = {0, 0, 1}, to[3] = {1, 2, 2};

void run(const double *restrict x, double *restrict v, const double *restrict f, double *restrict x_new,
         int *restrict iterations, double *restrict kinetic, int molecules, double mo, double mh, double oh2, double hh2,
         double dt, double tolerance) {
    const double w[3] = {1 / mo, 1 / mh, 1 / mh}, mass[3] = {mo, mh, mh}, d2[3] = {oh2, oh2, hh2};
    memset(kinetic, 0, (molecules + BLOCK - 1) / BLOCK * sizeof(double));
    for (int first = 0; first < molecules; first += W) {
        int lanes = MIN(W, molecules - first);
        double p[9][W] = {0}, q[9][W], start[9][W], u[9][W], bond[3][3][W], hf[9][W];
        int count[W] = {0}, active[W];
        for (int l = 0; l < W; l++) {
            long m = 9L * (first + (l < lanes ? l : 0));
            for (int t = 0; t < 9; t++) {
                p[t][l] = x[m + t];
                hf[t][l] = 0.5 * dt * f[m + t] * w[t / 3];
                u[t][l] = v[m + t] + hf[t][l];
                q[t][l] = start[t][l] = p[t][l] + dt * u[t][l];
            }
            active[l] = 1;
        }
        for (int c = 0; c < 3; c++)
            for (int d = 0; d < 3; d++)
                for (int l = 0; l < W; l++)
                    bond[c][d][l] = p[3 * from[c] + d][l] - p[3 * to[c] + d][l];
        for (int iteration = 0, any = 1; any && iteration < MAX_ITER; iteration++) {
            int moved[W] = {0};
            for (int c = 0; c < 3; c++) {
                int i = 3 * from[c], j = 3 * to[c];
                double wi = w[from[c]], wj = w[to[c]], limit = tolerance * d2[c];
#pragma omp simd
                for (int l = 0; l < W; l++) {
                    double sx = q[i][l] - q[j][l], sy = q[i + 1][l] - q[j + 1][l], sz = q[i + 2][l] - q[j + 2][l];
                    double rx = bond[c][0][l], ry = bond[c][1][l], rz = bond[c][2][l];
                    double off = sx * sx + sy * sy + sz * sz - d2[c];
                    int move = active[l] & (fabs(off) > limit);
                    double g = move ? off / (2 * (wi + wj) * (sx * rx + sy * ry + sz * rz)) : 0;
                    moved[l] |= move;
                    q[i][l] -= g * wi * rx, q[i + 1][l] -= g * wi * ry, q[i + 2][l] -= g * wi * rz;
                    q[j][l] += g * wj * rx, q[j + 1][l] += g * wj * ry, q[j + 2][l] += g * wj * rz;
                }
            }
            any = 0;
            for (int l = 0; l < W; l++) {
                count[l] += active[l];
                active[l] = moved[l];
                any |= moved[l];
            }
        }
        double energy[W] = {0}, b[3][W], a[3][3][W];
        for (int t = 0; t < 9; t++)
            for (int l = 0; l < W; l++)
                u[t][l] += (q[t][l] - start[t][l]) / dt + hf[t][l];
        for (int c = 0; c < 3; c++)
            for (int l = 0; l < W; l++) {
                b[c][l] = 0;
                for (int d = 0; d < 3; d++) {
                    bond[c][d][l] = q[3 * from[c] + d][l] - q[3 * to[c] + d][l];
                    b[c][l] += bond[c][d][l] * (u[3 * from[c] + d][l] - u[3 * to[c] + d][l]);
                }
            }
        for (int c = 0; c < 3; c++)
            for (int e = 0; e < 3; e++) {
                double weight = 0;
                weight += from[c] == from[e] ? w[from[c]] : 0;
                weight -= from[c] == to[e] ? w[from[c]] : 0;
                weight -= to[c] == from[e] ? w[to[c]] : 0;
                weight += to[c] == to[e] ? w[to[c]] : 0;
                for (int l = 0; l < W; l++)
                    a[c][e][l] = weight * (bond[c][0][l] * bond[e][0][l] + bond[c][1][l] * bond[e][1][l] +
                                           bond[c][2][l] * bond[e][2][l]);
            }
#pragma omp simd
        for (int l = 0; l < W; l++) {
            for (int k = 0; k < 3; k++)
                for (int i = k + 1; i < 3; i++) {
                    double factor = a[i][k][l] / a[k][k][l];
                    for (int j = k; j < 3; j++)
                        a[i][j][l] -= factor * a[k][j][l];
                    b[i][l] -= factor * b[k][l];
                }
            b[2][l] /= a[2][2][l];
            b[1][l] = (b[1][l] - a[1][2][l] * b[2][l]) / a[1][1][l];
            b[0][l] = (b[0][l] - a[0][1][l] * b[1][l] - a[0][2][l] * b[2][l]) / a[0][0][l];
        }
        for (int c = 0; c < 3; c++)
            for (int d = 0; d < 3; d++)
                for (int l = 0; l < W; l++) {
                    u[3 * from[c] + d][l] -= b[c][l] * bond[c][d][l] * w[from[c]];
                    u[3 * to[c] + d][l] += b[c][l] * bond[c][d][l] * w[to[c]];
                }
        for (int t = 0; t < 9; t++)
            for (int l = 0; l < W; l++)
                energy[l] += 0.5 * mass[t / 3] * u[t][l] * u[t][l];
        for (int l = 0; l < lanes; l++) {
            long m = first + l;
            for (int t = 0; t < 9; t++) {
                x_new[9 * m + t] = q[t][l];
                v[9 * m + t] = u[t][l];
            }
            iterations[m] = count[l];
            kinetic[m / BLOCK] += energy[l];
        }
    }
}
