#include "native.h"
#define S 11

__attribute__((simd("notinbranch"))) extern double log(double);
__attribute__((simd("notinbranch"))) extern double pow(double, double);

static int solve3(double a[3][3], double b[3]) {
    for (int c = 0; c < 3; c++) {
        int p = c;
        for (int r = c + 1; r < 3; r++)
            if (fabs(a[r][c]) > fabs(a[p][c]))
                p = r;
        if (fabs(a[p][c]) < 1e-300)
            return 0;
        for (int k = 0; k < 3; k++) {
            double t = a[c][k];
            a[c][k] = a[p][k];
            a[p][k] = t;
        }
        double t = b[c];
        b[c] = b[p];
        b[p] = t;
        for (int r = c + 1; r < 3; r++) {
            double m = a[r][c] / a[c][c];
            for (int k = c; k < 3; k++)
                a[r][k] -= m * a[c][k];
            b[r] -= m * b[c];
        }
    }
    for (int r = 2; r >= 0; r--) {
        for (int k = r + 1; k < 3; k++)
            b[r] -= a[r][k] * b[k];
        b[r] /= a[r][r];
    }
    return 1;
}


// Strikes in vectors. The kernel works powers and logarithms out for each set of parameters: so does this.
typedef struct {
    double quote[S], strike[S], beta, f, t;
} Smile;

static double residuals(const Smile *m, const double *x, double *restrict r) {
    double alpha = exp(x[0]), rho = 0.999 * tanh(x[1]), nu = exp(x[2]), sum = 0, one = 1 - m->beta, t = m->t;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < S; i++) {
        double k = m->strike[i], fk = pow(m->f * k, 0.5 * one), lfk = log(m->f / k), l2 = one * one * lfk * lfk;
        double wing = 1 + l2 / 24 + l2 * l2 / 1920, z = nu / alpha * fk * lfk, root = sqrt(1 - 2 * rho * z + z * z);
        double l = log((root + z - rho) / (1 - rho)), ratio = fabs(z) > 1e-6 ? z / l : 1;
        double b = 1 + t * (one * one / 24 * alpha * alpha / (fk * fk) + 0.25 * rho * m->beta * nu * alpha / fk +
                            (2 - 3 * rho * rho) / 24 * nu * nu);
        r[i] = alpha / (fk * wing) * ratio * b - m->quote[i];
        sum += r[i] * r[i];
    }
    return sum;
}

void run(const double *restrict quotes, const double *restrict strikes, const double *restrict forward,
         const double *restrict expiry, double *restrict fitted, double *restrict error, int n, double beta,
         int iterations) {
    for (int s = 0; s < n; s++) {
        Smile m = {.beta = beta, .f = forward[s], .t = expiry[s]};
        double f = forward[s], r[S], moved[S], jac[3][S], damping = 1e-3;
        for (int i = 0; i < S; i++) {
            m.quote[i] = quotes[s * S + i];
            m.strike[i] = strikes[s * S + i];
        }
        double x[3] = {log(m.quote[S / 2] * pow(f, 1 - beta)), -0.1, log(0.4)}, sum = residuals(&m, x, r);
        for (int it = 0; it < iterations; it++) {
            double a[3][3], b[3], y[3];
            for (int p = 0; p < 3; p++) {
                memcpy(y, x, sizeof y);
                y[p] += 1e-5;
                residuals(&m, y, moved);
                for (int i = 0; i < S; i++)
                    jac[p][i] = (moved[i] - r[i]) / 1e-5;
            }
            for (int p = 0; p < 3; p++) {
                b[p] = 0;
                for (int i = 0; i < S; i++)
                    b[p] -= jac[p][i] * r[i];
                for (int q = 0; q < 3; q++) {
                    a[p][q] = 0;
                    for (int i = 0; i < S; i++)
                        a[p][q] += jac[p][i] * jac[q][i];
                }
            }
            for (int p = 0; p < 3; p++)
                a[p][p] *= 1 + damping;
            if (!solve3(a, b))
                break;
            for (int p = 0; p < 3; p++)
                y[p] = x[p] + MIN(MAX(b[p], -1), 1);
            double trial = residuals(&m, y, moved);
            if (trial < sum) {
                double gain = sum - trial;
                sum = trial;
                memcpy(x, y, sizeof x);
                memcpy(r, moved, sizeof r);
                damping = MAX(0.3 * damping, 1e-9);
                if (gain < 1e-4 * sum)
                    break;
            } else
                damping *= 5;
        }
        fitted[3 * s] = exp(x[0]), fitted[3 * s + 1] = 0.999 * tanh(x[1]), fitted[3 * s + 2] = exp(x[2]);
        error[s] = sqrt(sum / S);
    }
}
