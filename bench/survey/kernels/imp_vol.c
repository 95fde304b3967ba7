// Implied volatilities by Newton's method in a bracket, then smiles by least squares.
#include "native.h"

typedef struct {
    double strike, price;
    int expiry;
    char kind;
} Quote;

typedef struct {
    double years, forward, discount;
} Expiry;

void run(const Quote *restrict quotes, const Expiry *restrict expiries, const int *restrict first,
         double *restrict vols, int *restrict status, double *restrict fits, int n, int max_iterations, int count) {
    for (int i = 0; i < n; i++) {
        Quote q = quotes[i];
        Expiry e = expiries[q.expiry];
        double target = q.price / e.discount, f = e.forward, k = q.strike, sign = q.kind == 'C' ? 1 : -1;
        vols[i] = 0;
        if (target <= MAX(sign * (f - k), 0)) {
            status[i] = 1;
            continue;
        }
        if (target >= (sign > 0 ? f : k)) {
            status[i] = 2;
            continue;
        }
        double log_ratio = log(f / k), root_t = sqrt(e.years), low = 1e-4, high = 5;
        double vol = sqrt(2 * fabs(log_ratio) / e.years);
        vol = vol < 0.05 ? 0.05 : vol > 2 ? 2 : vol;
        status[i] = 3;
        for (int iteration = 0; iteration < max_iterations; iteration++) {
            double root = vol * root_t, d1 = log_ratio / root + 0.5 * root, d2 = d1 - root;
            double price = sign * 0.5 * (f * erfc(-sign * d1 * M_SQRT1_2) - k * erfc(-sign * d2 * M_SQRT1_2));
            double error = price - target;
            if (fabs(error) < 1e-10 * f) {
                status[i] = 0;
                break;
            }
            if (error > 0)
                high = vol;
            else
                low = vol;
            double next = vol - error / (f * root_t * 0.39894228040143267794 * exp(-0.5 * d1 * d1));
            vol = next > low && next < high ? next : 0.5 * (low + high);
        }
        vols[i] = vol;
    }
    for (int expiry = 0; expiry < count; expiry++) {
        double moment[5] = {0}, right[3] = {0}, a[3][4], inverse = 1 / expiries[expiry].forward;
        double root = sqrt(expiries[expiry].years);
        for (int i = first[expiry]; i < first[expiry + 1]; i++) {
            if (status[i])
                continue;
            double x = log(quotes[i].strike * inverse) / root, power = exp(-x * x);
            for (int k = 0; k < 5; k++) {
                moment[k] += power;
                if (k < 3)
                    right[k] += power * vols[i];
                power *= x;
            }
        }
        for (int r = 0; r < 3; r++) {
            for (int c = 0; c < 3; c++)
                a[r][c] = moment[r + c];
            a[r][3] = right[r];
        }
        for (int p = 0; p < 3; p++) {
            int best = p;
            for (int r = p + 1; r < 3; r++)
                if (fabs(a[r][p]) > fabs(a[best][p]))
                    best = r;
            for (int c = 0; c < 4; c++) {
                double t = a[p][c];
                a[p][c] = a[best][c];
                a[best][c] = t;
            }
            for (int r = 0; r < 3; r++) {
                if (r == p)
                    continue;
                double factor = a[r][p] / a[p][p];
                for (int c = p; c < 4; c++)
                    a[r][c] -= factor * a[p][c];
            }
        }
        for (int r = 0; r < 3; r++)
            fits[expiry * 3 + r] = a[r][3] / a[r][r];
    }
}
