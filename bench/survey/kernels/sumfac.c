// Spectral elements: an element at a time, each derivative as products of 8 x 8 with whole rows or planes.
#include "native.h"
enum { N = 8, N2 = N * N, N3 = N * N * N };

void run(const double *restrict u, const int *restrict ids, const double *restrict geo, const double *restrict d,
         const int *restrict boundary, double *restrict w, double *restrict out, int elements, int nodes, int walls) {
    double dt[N2];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            dt[j * N + i] = d[i * N + j];
    memset(w, 0, nodes * sizeof(double));
    for (int e = 0; e < elements; e++) {
        const int *id = ids + (long)e * N3;
        const double *g = geo + 6L * e * N3;
        double a[N3], ur[N3], us[N3], ut[N3], result[N3];
        for (int p = 0; p < N3; p++)
            a[p] = u[id[p]];
        for (int row = 0; row < N2; row++) {
            double sum[N] = {0};
            for (int m = 0; m < N; m++)
                for (int i = 0; i < N; i++)
                    sum[i] += dt[m * N + i] * a[row * N + m];
            memcpy(ur + row * N, sum, sizeof sum);
        }
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++) {
                double sum[N] = {0};
                for (int m = 0; m < N; m++)
                    for (int i = 0; i < N; i++)
                        sum[i] += d[j * N + m] * a[k * N2 + m * N + i];
                memcpy(us + k * N2 + j * N, sum, sizeof sum);
            }
        for (int k = 0; k < N; k++) {
            double sum[N2] = {0};
            for (int m = 0; m < N; m++)
                for (int i = 0; i < N2; i++)
                    sum[i] += d[k * N + m] * a[m * N2 + i];
            memcpy(ut + k * N2, sum, sizeof sum);
        }
#pragma omp simd
        for (int p = 0; p < N3; p++) {
            const double *c = g + 6 * p;
            double r = ur[p], s = us[p], t = ut[p];
            ur[p] = c[0] * r + c[1] * s + c[2] * t;
            us[p] = c[1] * r + c[3] * s + c[4] * t;
            ut[p] = c[2] * r + c[4] * s + c[5] * t;
        }
        for (int k = 0; k < N; k++) {
            double sum[N2] = {0};
            for (int m = 0; m < N; m++)
                for (int i = 0; i < N2; i++)
                    sum[i] += d[m * N + k] * ut[m * N2 + i];
            memcpy(result + k * N2, sum, sizeof sum);
        }
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++) {
                double sum[N];
                memcpy(sum, result + k * N2 + j * N, sizeof sum);
                for (int m = 0; m < N; m++)
                    for (int i = 0; i < N; i++)
                        sum[i] += d[m * N + i] * ur[k * N2 + j * N + m] + d[m * N + j] * us[k * N2 + m * N + i];
                memcpy(result + k * N2 + j * N, sum, sizeof sum);
            }
        for (int p = 0; p < N3; p++)
            w[id[p]] += result[p];
    }
    for (int t = 0; t < walls; t++)
        w[boundary[t]] = 0;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < nodes; i++)
        sum += u[i] * w[i];
    *out = sum;
}
