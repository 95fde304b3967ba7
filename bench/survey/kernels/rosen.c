// Rosenbrock's method for a network of reactions, written out, in a cell at a time.
#include "native.h"
enum { S = 6, R = 8 };

static inline void rhs(const double *restrict y, const double *restrict k, double *restrict dy) {
    double r0 = k[0] * y[0], r1 = k[1] * y[1] * y[2], r2 = k[2] * y[1] * y[1], r3 = k[3] * y[3];
    double r4 = k[4] * y[2] * y[4], r5 = k[5] * y[4], r6 = k[6] * y[5] * y[1], r7 = k[7] * y[3] * y[4];
    dy[0] = r1 + r6 + r7 - r0;
    dy[1] = r0 - r1 - 2 * r2 + r3 + r4 - r6;
    dy[2] = r0 - r1 - r4 + r7;
    dy[3] = r2 - r3 + r6 - r7;
    dy[4] = r3 - r4 - r5 - r7;
    dy[5] = r4 + r5 - r6;
}

// I - c J
static inline void matrix(const double *restrict y, const double *restrict k, double c, double a[S][S]) {
    double d0 = c * k[0], d1a = c * k[1] * y[2], d1b = c * k[1] * y[1], d2 = 2 * c * k[2] * y[1], d3 = c * k[3];
    double d4a = c * k[4] * y[4], d4b = c * k[4] * y[2], d5 = c * k[5], d6a = c * k[6] * y[1], d6b = c * k[6] * y[5];
    double d7a = c * k[7] * y[4], d7b = c * k[7] * y[3];
    double rows[S][S] = {
        {1 + d0, -d1a - d6b, -d1b, -d7a, -d7b, -d6a},
        {-d0, 1 + d1a + 2 * d2 + d6b, d1b - d4a, -d3, -d4b, d6a},
        {-d0, d1a, 1 + d1b + d4a, -d7a, d4b - d7b, 0},
        {0, -d2 - d6b, 0, 1 + d3 + d7a, d7b, -d6a},
        {0, 0, d4a, d7a - d3, 1 + d4b + d5 + d7b, 0},
        {0, d6b, -d4a, 0, -d4b - d5, 1 + d6a},
    };
    memcpy(a, rows, sizeof rows);
}

static inline void decompose(double a[S][S], double *inverse) {
    for (int k = 0; k < S; k++) {
        inverse[k] = 1 / a[k][k];
        for (int i = k + 1; i < S; i++) {
            a[i][k] *= inverse[k];
            for (int j = k + 1; j < S; j++)
                a[i][j] -= a[i][k] * a[k][j];
        }
    }
}

static inline void solve(double a[S][S], const double *inverse, double *x) {
    for (int i = 1; i < S; i++)
        for (int j = 0; j < i; j++)
            x[i] -= a[i][j] * x[j];
    for (int i = S - 1; i >= 0; i--) {
        for (int j = i + 1; j < S; j++)
            x[i] -= a[i][j] * x[j];
        x[i] *= inverse[i];
    }
}

void run(double *restrict concentration, const double *restrict temperature, int *restrict steps_taken, int cells,
         double t_end, double rtol, double atol) {
    static const double factor[R] = {4e-2, 3e3, 2e4, 15, 8e2, 0.6, 50, 2.5e3};
    static const double energy[R] = {0, 500, 250, 900, 120, 0, 1200, 300};
    const double gamma = 1 + 0.70710678118654752;
    for (int cell = 0; cell < cells; cell++) {
        double y[S], k[R];
        for (int s = 0; s < S; s++)
            y[s] = concentration[(long)s * cells + cell];
        for (int r = 0; r < R; r++)
            k[r] = factor[r] * exp(-energy[r] / temperature[cell]);
        double t = 0, h = 1e-4;
        int steps = 0;
        while (t < t_end && steps < 500) {
            if (t + h > t_end)
                h = t_end - t;
            double lu[S][S], inverse[S], k1[S], k2[S], stage[S], error = 0;
            matrix(y, k, gamma * h, lu);
            decompose(lu, inverse);
            rhs(y, k, k1);
            solve(lu, inverse, k1);
            for (int s = 0; s < S; s++)
                stage[s] = y[s] + h * k1[s];
            rhs(stage, k, k2);
            for (int s = 0; s < S; s++)
                k2[s] -= 2 * k1[s];
            solve(lu, inverse, k2);
            for (int s = 0; s < S; s++) {
                stage[s] = y[s] + 1.5 * h * k1[s] + 0.5 * h * k2[s];
                double a = fabs(y[s]), b = fabs(stage[s]);
                double e = 0.5 * h * (k1[s] + k2[s]) / (atol + rtol * (a > b ? a : b));
                error += e * e;
            }
            error = sqrt(error / S);
            error = error > 1e-10 ? error : 1e-10;
            steps++;
            if (error <= 1) {
                t += h;
                for (int s = 0; s < S; s++)
                    y[s] = stage[s] > 0 ? stage[s] : 0;
            }
            double change = 0.9 / sqrt(error);
            h *= change < 0.2 ? 0.2 : change > 5 ? 5 : change;
        }
        for (int s = 0; s < S; s++)
            concentration[(long)s * cells + cell] = y[s];
        steps_taken[cell] = steps;
    }
}
