// All roots of each of many polynomials, after Aberth and Ehrlich: a polynomial's roots side by side.
#include "native.h"
enum { DEGREE = 10 };

typedef struct {
    double re, im;
} Complex;

static void solve(const double *cr, const double *ci, double *restrict zr, double *restrict zi, int rounds,
                  double tolerance) {
    double most = 0;
    for (int k = 0; k < DEGREE; k++)
        most = fmax(most, sqrt(cr[k] * cr[k] + ci[k] * ci[k]));
    double radius = 0.5 * (1 + most / sqrt(cr[DEGREE] * cr[DEGREE] + ci[DEGREE] * ci[DEGREE]));
    for (int i = 0; i < DEGREE; i++) {
        double angle = 2 * M_PI * i / DEGREE + 0.4;
        zr[i] = radius * cos(angle);
        zi[i] = radius * sin(angle);
    }
    for (int round = 0; round < rounds; round++) {
        double sr[DEGREE], si[DEGREE], largest = 0;
#pragma omp simd reduction(max : largest)
        for (int i = 0; i < DEGREE; i++) {
            double x = zr[i], y = zi[i], pr = cr[DEGREE], pi = ci[DEGREE], dr = 0, di = 0;
            for (int k = DEGREE - 1; k >= 0; k--) {
                double t = dr * x - di * y + pr;
                di = dr * y + di * x + pi;
                dr = t;
                t = pr * x - pi * y + cr[k];
                pi = pr * y + pi * x + ci[k];
                pr = t;
            }
            double scale = 1 / (dr * dr + di * di);
            double rr = (pr * dr + pi * di) * scale, ri = (pi * dr - pr * di) * scale;
            double ar = 0, ai = 0;
            for (int j = 0; j < DEGREE; j++) {
                double ux = x - zr[j], uy = y - zi[j], size = ux * ux + uy * uy;
                double inverse = j == i ? 0 : 1 / size;
                ar += ux * inverse;
                ai -= uy * inverse;
            }
            double br = 1 - (rr * ar - ri * ai), bi = -(rr * ai + ri * ar), over = 1 / (br * br + bi * bi);
            sr[i] = (rr * br + ri * bi) * over;
            si[i] = (ri * br - rr * bi) * over;
            double size = sr[i] * sr[i] + si[i] * si[i];
            largest = size > largest ? size : largest;
        }
        for (int i = 0; i < DEGREE; i++) {
            zr[i] -= sr[i];
            zi[i] -= si[i];
        }
        if (largest < tolerance * tolerance)
            return;
    }
}

void run(const Complex *restrict coefficients, Complex *restrict roots, int count, int rounds, double tolerance) {
    for (int p = 0; p < count; p++) {
        double cr[DEGREE + 1], ci[DEGREE + 1], zr[DEGREE], zi[DEGREE];
        for (int k = 0; k <= DEGREE; k++) {
            cr[k] = coefficients[(size_t)k * count + p].re;
            ci[k] = coefficients[(size_t)k * count + p].im;
        }
        solve(cr, ci, zr, zi, rounds, tolerance);
        for (int k = 0; k < DEGREE; k++)
            roots[(size_t)k * count + p] = (Complex){zr[k], zi[k]};
    }
}
