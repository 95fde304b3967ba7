// Hourglass forces, eight elements side by side; nodes are added to at once, no array of corners between.
#include "native.h"
enum { W = 8 };

static const signed char GAMMA[4][8] = {{1, 1, -1, -1, -1, -1, 1, 1},
                                        {1, -1, -1, 1, -1, 1, 1, -1},
                                        {1, -1, 1, -1, 1, -1, 1, -1},
                                        {-1, 1, -1, 1, 1, -1, 1, -1}};
static const signed char CORNERS[8][6] = {
    {1, 2, 3, 4, 5, 7}, {2, 3, 0, 5, 6, 4}, {3, 0, 1, 6, 7, 5}, {0, 1, 2, 7, 4, 6},
    {7, 6, 5, 0, 3, 1}, {4, 7, 6, 1, 0, 2}, {5, 4, 7, 2, 1, 3}, {6, 5, 4, 3, 2, 0}};

// Of the volume by one coordinate, from the other two.
static inline void derivative(const signed char *at, const double (*restrict y)[W], const double (*restrict z)[W],
                              double *restrict to) {
    const double *y0 = y[at[0]], *y1 = y[at[1]], *y2 = y[at[2]], *y3 = y[at[3]], *y4 = y[at[4]], *y5 = y[at[5]];
    const double *z0 = z[at[0]], *z1 = z[at[1]], *z2 = z[at[2]], *z3 = z[at[3]], *z4 = z[at[4]], *z5 = z[at[5]];
#pragma omp simd
    for (int l = 0; l < W; l++)
        to[l] = ((y1[l] + y2[l]) * (z0[l] + z1[l]) - (y0[l] + y1[l]) * (z1[l] + z2[l]) +
                 (y0[l] + y4[l]) * (z3[l] + z4[l]) - (y3[l] + y4[l]) * (z0[l] + z4[l]) -
                 (y2[l] + y5[l]) * (z3[l] + z5[l]) + (y3[l] + y5[l]) * (z2[l] + z5[l])) *
                (1.0 / 12);
}

void run(const double *restrict px, const double *restrict py, const double *restrict pz, const double *restrict vx,
         const double *restrict vy, const double *restrict vz, const int *restrict node_list,
         const double *restrict sound_speed, const double *restrict mass, const double *restrict volume,
         double *restrict fx, double *restrict fy, double *restrict fz, int elements, int nodes, double strength) {
    const double *place[3] = {px, py, pz}, *speed[3] = {vx, vy, vz};
    double *force[3] = {fx, fy, fz};
    for (int first = 0; first < elements; first += W) {
        int lanes = MIN(W, elements - first);
        double p[3][8][W] = {0}, dv[3][8][W], hourgam[4][8][W], coefficient[W] = {0}, inverse[W] = {0};
        const int *list = node_list + 8 * first;
        for (int axis = 0; axis < 3; axis++)
            for (int n = 0; n < 8; n++)
                for (int l = 0; l < lanes; l++)
                    p[axis][n][l] = place[axis][list[8 * l + n]];
        for (int l = 0; l < lanes; l++) {
            int k = first + l;
            inverse[l] = 1 / volume[k];
            coefficient[l] = -strength * 0.01 * sound_speed[k] * mass[k] / cbrt(volume[k]);
        }
        for (int axis = 0; axis < 3; axis++)
            for (int n = 0; n < 8; n++)
                derivative(CORNERS[n], p[(axis + 1) % 3], p[(axis + 2) % 3], dv[axis][n]);
        for (int i = 0; i < 4; i++) {
            double mode[3][W] = {0};
            for (int axis = 0; axis < 3; axis++)
                for (int n = 0; n < 8; n++)
#pragma omp simd
                    for (int l = 0; l < W; l++)
                        mode[axis][l] += p[axis][n][l] * GAMMA[i][n];
            for (int n = 0; n < 8; n++)
#pragma omp simd
                for (int l = 0; l < W; l++)
                    hourgam[i][n][l] = GAMMA[i][n] - inverse[l] * (dv[0][n][l] * mode[0][l] + dv[1][n][l] * mode[1][l] +
                                                                   dv[2][n][l] * mode[2][l]);
        }
        for (int axis = 0; axis < 3; axis++) {
            double v[8][W] = {0}, mode[4][W] = {0}, f[8][W];
            for (int n = 0; n < 8; n++)
                for (int l = 0; l < lanes; l++)
                    v[n][l] = speed[axis][list[8 * l + n]];
            for (int i = 0; i < 4; i++)
                for (int n = 0; n < 8; n++)
#pragma omp simd
                    for (int l = 0; l < W; l++)
                        mode[i][l] += hourgam[i][n][l] * v[n][l];
            for (int n = 0; n < 8; n++)
#pragma omp simd
                for (int l = 0; l < W; l++)
                    f[n][l] = coefficient[l] * (hourgam[0][n][l] * mode[0][l] + hourgam[1][n][l] * mode[1][l] +
                                                hourgam[2][n][l] * mode[2][l] + hourgam[3][n][l] * mode[3][l]);
            for (int l = 0; l < lanes; l++)
                for (int n = 0; n < 8; n++)
                    force[axis][list[8 * l + n]] += f[n][l];
        }
    }
}
