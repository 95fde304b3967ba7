#include "native.h"

enum { HALF = 64, NODES = 2 * HALF };

typedef struct {
    double maturity, coupon, call_price, first_call;
} Bond;

static double discount(double t, const double *zero_rates, int knots) {
    double at = t * 2;
    int k = MIN((int)at, knots - 2);
    return exp(-(zero_rates[k] + (zero_rates[k + 1] - zero_rates[k]) * (at - k)) * t);
}

void run(const Bond *restrict bonds, const double *restrict zero_rates, double *restrict prices, int knots, int steps,
         double mean_reversion, double sigma, int count) {
    for (int n = 0; n < count; n++) {
        Bond bond = bonds[n];
        double dt = bond.maturity / steps, m = mean_reversion * dt, dr = sigma * sqrt(3 * dt);
        int jmax = MIN((int)ceil(0.184 / m), HALF - 1);
        double own[NODES], up[NODES], mid[NODES], down[NODES], room[3][NODES + 2] = {0}, ratios[256];
        for (int j = -jmax; j <= jmax; j++) {
            double a = j * m, aa = a * a;
            int k = j + HALF;
            own[k] = exp(-j * dr * dt);
            up[k] = 1.0 / 6 + (aa - a) / 2;
            mid[k] = 2.0 / 3 - aa;
            down[k] = 1.0 / 6 + (aa + a) / 2;
            if (j == jmax) {
                up[k] = 7.0 / 6 + (aa - 3 * a) / 2;
                mid[k] = -1.0 / 3 - aa + 2 * a;
                down[k] = 1.0 / 6 + (aa - a) / 2;
            } else if (j == -jmax) {
                up[k] = 1.0 / 6 + (aa + a) / 2;
                mid[k] = -1.0 / 3 - aa - 2 * a;
                down[k] = 7.0 / 6 + (aa + 3 * a) / 2;
            }
        }
        double *restrict q = room[0] + 1, *restrict next = room[1] + 1, *restrict paid = room[2] + 1;
        q[HALF] = 1;
        for (int i = 0; i < steps; i++) {
            int top = MIN(i, jmax), low = HALF - top, high = HALF + top;
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int k = low; k <= high; k++)
                sum += paid[k] = q[k] * own[k];
            double ratio = ratios[i] = discount((i + 1) * dt, zero_rates, knots) / sum;
            memset(next, 0, NODES * sizeof(double));
            // inner nodes; those at the borders by themselves
            int edge = i >= jmax, first = low + edge, last = high - edge;
            for (int k = first; k <= last; k++) {
                double p = paid[k] * ratio;
                next[k + 1] += p * up[k];
                next[k] += p * mid[k];
                next[k - 1] += p * down[k];
            }
            if (edge) {
                double p = paid[high] * ratio;
                next[high] += p * up[high];
                next[high - 1] += p * mid[high];
                next[high - 2] += p * down[high];
                p = paid[low] * ratio;
                next[low + 2] += p * up[low];
                next[low + 1] += p * mid[low];
                next[low] += p * down[low];
            }
            double *t = q;
            q = next;
            next = t;
        }
        double payment = bond.coupon * dt;
        for (int k = HALF - jmax; k <= HALF + jmax; k++)
            q[k] = 100 + payment;
        for (int i = steps - 1; i >= 0; i--) {
            int top = MIN(i, jmax), low = HALF - top, high = HALF + top, edge = top == jmax;
            double r = ratios[i];
#pragma omp simd
            for (int k = low + edge; k <= high - edge; k++)
                next[k] = r * own[k] * (up[k] * q[k + 1] + mid[k] * q[k] + down[k] * q[k - 1]);
            if (edge) {
                next[high] = r * own[high] * (up[high] * q[high] + mid[high] * q[high - 1] + down[high] * q[high - 2]);
                next[low] = r * own[low] * (up[low] * q[low + 2] + mid[low] * q[low + 1] + down[low] * q[low]);
            }
            if (i > 0) {
                double cap = i * dt >= bond.first_call ? bond.call_price : INFINITY;
#pragma omp simd
                for (int k = low; k <= high; k++)
                    next[k] = MIN(next[k], cap) + payment;
            }
            double *t = q;
            q = next;
            next = t;
        }
        prices[n] = q[HALF];
    }
}
