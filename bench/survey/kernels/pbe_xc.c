// PBE on points of a grid, in vectors: points without density are worked out with another one and forgotten.
#include "native.h"

__attribute__((simd("notinbranch"))) extern double cbrt(double);
__attribute__((simd("notinbranch"))) extern double exp(double);
__attribute__((simd("notinbranch"))) extern double log1p(double);
#define PI 3.14159265358979323846

void run(const double *restrict rho, const double *restrict gx, const double *restrict gy, const double *restrict gz,
         const double *restrict weight, double *restrict exc, double *restrict v_rho, double *restrict v_sigma,
         double *restrict totals, int n, double least) {
    const double kappa = 0.804, mu = 0.2195149727645171, beta = 0.06672455060314922, gamma = 0.031090690869654895;
    const double a = 0.0310907, a1 = 0.21370, b1 = 7.5957, b2 = 3.5876, b3 = 1.6382, b4 = 0.49294;
    const double cx = -0.75 * cbrt(3 / PI), ck = cbrt(3 * PI * PI), cs = cbrt(3 / (4 * PI));
    double electrons = 0, energy = 0;
#pragma omp simd reduction(+ : electrons, energy)
    for (int i = 0; i < n; i++) {
        int there = rho[i] >= least;
        double d = there ? rho[i] : 1, sigma = gx[i] * gx[i] + gy[i] * gy[i] + gz[i] * gz[i];
        double root = cbrt(d), ex = cx * d * root, kf = ck * root, per = 1 / (4 * kf * kf * d * d), s2 = sigma * per;
        double bottom = 1 + mu * s2 / kappa, f = 1 + kappa - kappa / bottom, df = mu / (bottom * bottom);
        double e = ex * f, vr = 4.0 / 3 * ex / d * f - ex * df * 8.0 / 3 * s2 / d, vs = ex * df * per;

        double rs = cs / root, r = sqrt(rs), q0 = -2 * a * (1 + a1 * rs);
        double q1 = 2 * a * r * (b1 + r * (b2 + r * (b3 + r * b4)));
        double dq1 = a * (b1 / r + 2 * b2 + 3 * b3 * r + 4 * b4 * rs), l = log1p(1 / q1);
        double slope = -2 * a * a1 * l - q0 * dq1 / (q1 * q1 + q1), ec = q0 * l, ec_rho = -slope * rs / (3 * d);
        double t2_sigma = PI / (16 * kf * d * d), t2 = sigma * t2_sigma, x = exp(-ec / gamma);
        double A = beta / gamma / (x - 1), y = A * t2, below = 1 + y + y * y, ratio = (1 + y) / below;
        double dratio = -(2 + y) * y / (below * below), q = beta / gamma * t2 * ratio, h = gamma * log1p(q);
        double hq = beta / (1 + q), ht = hq * (ratio + y * dratio), ha = hq * t2 * t2 * dratio;
        e += d * (ec + h);
        vr += ec + h + d * ec_rho * (1 + ha * A * A * x / beta) - 7.0 / 3 * ht * t2;
        vs += d * ht * t2_sigma;
        exc[i] = there ? e : 0;
        v_rho[i] = there ? vr : 0;
        v_sigma[i] = there ? vs : 0;
        electrons += there ? weight[i] * d : 0;
        energy += there ? weight[i] * e : 0;
    }
    totals[0] = electrons, totals[1] = energy;
}
