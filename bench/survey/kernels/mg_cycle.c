#include "native.h"

#define LEVELS 4

static void smooth(double *restrict u, const double *restrict f, int n, double h2, int times) {
    for (int t = 0; t < 2 * times; t++)
        for (int y = 1; y < n - 1; y++) {
            double *line = u + (long)y * n;
            const double *f_line = f + (long)y * n;
#pragma omp simd
            for (int x = 1 + (y + t) % 2; x < n - 1; x += 2)
                line[x] = 0.25 * (line[x - 1] + line[x + 1] + line[x - n] + line[x + n] + h2 * f_line[x]);
        }
}

static void residual(const double *restrict u, const double *restrict f, double *restrict r, int n, double h2) {
    memset(r, 0, n * sizeof *r);
    memset(r + (long)(n - 1) * n, 0, n * sizeof *r);
    for (int y = 1; y < n - 1; y++) {
        long i = (long)y * n;
        r[i] = r[i + n - 1] = 0;
#pragma omp simd
        for (int x = 1; x < n - 1; x++)
            r[i + x] = f[i + x] -
                       (4 * u[i + x] - u[i + x - 1] - u[i + x + 1] - u[i + x - n] - u[i + x + n]) / h2;
    }
}

static void coarser(const double *restrict r, double *restrict f, double *restrict u, int n) {
    int fine = 2 * n - 1;
    memset(f, 0, (long)n * n * sizeof *f);
    memset(u, 0, (long)n * n * sizeof *u);
    for (int y = 1; y < n - 1; y++) {
        const double *b = r + 2L * y * fine, *a = b - fine, *c = b + fine;
#pragma omp simd
        for (int x = 1; x < n - 1; x++) {
            int i = 2 * x;
            f[(long)y * n + x] = 0.25 * b[i] + 0.125 * (b[i - 1] + b[i + 1] + a[i] + c[i]) +
                                 0.0625 * (a[i - 1] + a[i + 1] + c[i - 1] + c[i + 1]);
        }
    }
}

static void finer(const double *restrict coarse, double *restrict u, int n) {
    int m = (n + 1) / 2;
    for (int y = 1; y < n - 1; y++) {
        // of an even row both are the same
        const double *a = coarse + (long)(y / 2) * m, *b = coarse + (long)((y + 1) / 2) * m;
        double *line = u + (long)y * n;
        line[1] += 0.25 * (a[0] + a[1] + b[0] + b[1]);
#pragma omp simd
        for (int x = 1; x < m - 1; x++) {
            line[2 * x] += 0.5 * (a[x] + b[x]);
            line[2 * x + 1] += 0.25 * (a[x] + a[x + 1] + b[x] + b[x + 1]);
        }
    }
}

void run(double *u0, double *u1, double *u2, double *u3, double *f0, double *f1, double *f2, double *f3, double *r0,
         double *r1, double *r2, int n, double h2, int before, int after, int last) {
    double *u[] = {u0, u1, u2, u3}, *f[] = {f0, f1, f2, f3}, *r[] = {r0, r1, r2};
    for (int l = 0; l < LEVELS - 1; l++, n = (n + 1) / 2, h2 *= 4) {
        smooth(u[l], f[l], n, h2, before);
        residual(u[l], f[l], r[l], n, h2);
        coarser(r[l], f[l + 1], u[l + 1], (n + 1) / 2);
    }
    smooth(u3, f3, n, h2, last);
    for (int l = LEVELS - 2; l >= 0; l--) {
        n = 2 * n - 1, h2 /= 4;
        finer(u[l + 1], u[l], n);
        smooth(u[l], f[l], n, h2, after);
    }
}
