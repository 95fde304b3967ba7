// Van der Pol oscillators by Dormand and Prince's method with steps by the error; eight side by side until the
// last is at the end, each with its own step.
#include "native.h"

#if defined(__x86_64__) && defined(__GLIBC__)
__attribute__((simd("notinbranch"))) extern double pow(double, double);
#endif

enum { W = 8 };

void run(double *restrict states, const double *restrict mus, int *restrict steps, int *restrict rejected, int n,
         double t_end, double tolerance) {
    for (int first = 0; first < n; first += W) {
        int lanes = MIN(W, n - first);
        double x[W], v[W], mu[W], t[W] = {0}, h[W], kx[W], kv[W], error[W], nx[W], nv[W], lx[W], lv[W], step[W];
        int taken[W] = {0}, failed[W] = {0}, going = 1;
        for (int l = 0; l < W; l++) {
            int i = first + MIN(l, lanes - 1);
            x[l] = states[2 * i], v[l] = states[2 * i + 1], mu[l] = mus[i], h[l] = 0.01;
            kx[l] = v[l], kv[l] = mu[l] * (1 - x[l] * x[l]) * v[l] - x[l];
        }
        while (going) {
#pragma omp simd
            for (int l = 0; l < W; l++) {
                double s = t[l] + h[l] > t_end ? t_end - t[l] : h[l], px, pv;
                double ax = kx[l], av = kv[l];
#define F(x, v) (mu[l] * (1.0 - (x) * (x)) * (v) - (x))
                px = x[l] + s / 5 * ax, pv = v[l] + s / 5 * av;
                double bx = pv, bv = F(px, pv);
                px = x[l] + s * (3.0 / 40 * ax + 9.0 / 40 * bx);
                pv = v[l] + s * (3.0 / 40 * av + 9.0 / 40 * bv);
                double cx = pv, cv = F(px, pv);
                px = x[l] + s * (44.0 / 45 * ax + -56.0 / 15 * bx + 32.0 / 9 * cx);
                pv = v[l] + s * (44.0 / 45 * av + -56.0 / 15 * bv + 32.0 / 9 * cv);
                double dx = pv, dv = F(px, pv);
                px = x[l] + s * (19372.0 / 6561 * ax + -25360.0 / 2187 * bx + 64448.0 / 6561 * cx + -212.0 / 729 * dx);
                pv = v[l] + s * (19372.0 / 6561 * av + -25360.0 / 2187 * bv + 64448.0 / 6561 * cv + -212.0 / 729 * dv);
                double ex = pv, ev = F(px, pv);
                px = x[l] + s * (9017.0 / 3168 * ax + -355.0 / 33 * bx + 46732.0 / 5247 * cx + 49.0 / 176 * dx +
                                 -5103.0 / 18656 * ex);
                pv = v[l] + s * (9017.0 / 3168 * av + -355.0 / 33 * bv + 46732.0 / 5247 * cv + 49.0 / 176 * dv +
                                 -5103.0 / 18656 * ev);
                double fx = pv, fv = F(px, pv);
                px = x[l] + s * (35.0 / 384 * ax + 500.0 / 1113 * cx + 125.0 / 192 * dx + -2187.0 / 6784 * ex +
                                 11.0 / 84 * fx);
                pv = v[l] + s * (35.0 / 384 * av + 500.0 / 1113 * cv + 125.0 / 192 * dv + -2187.0 / 6784 * ev +
                                 11.0 / 84 * fv);
                double gx = pv, gv = F(px, pv);
                double rx = s * (71.0 / 57600 * ax + -71.0 / 16695 * cx + 71.0 / 1920 * dx + -17253.0 / 339200 * ex +
                                 22.0 / 525 * fx + -1.0 / 40 * gx);
                double rv = s * (71.0 / 57600 * av + -71.0 / 16695 * cv + 71.0 / 1920 * dv + -17253.0 / 339200 * ev +
                                 22.0 / 525 * fv + -1.0 / 40 * gv);
                double a = fabs(rx) / (1 + fabs(px)), b = fabs(rv) / (1 + fabs(pv));
                error[l] = (a > b ? a : b) / tolerance;
                nx[l] = px, nv[l] = pv, lx[l] = gx, lv[l] = gv, step[l] = s;
            }
            going = 0;
#pragma omp simd reduction(| : going)
            for (int l = 0; l < W; l++) {
                int on = (t[l] < t_end) & (taken[l] + failed[l] < 2000), good = on & (error[l] <= 1);
                double factor = error[l] == 0 ? 5 : 0.9 * pow(error[l], -0.2), most = error[l] <= 1 ? 5 : 1;
                factor = factor < 0.2 ? 0.2 : factor;
                factor = factor > most ? most : factor;
                t[l] += good ? step[l] : 0;
                x[l] = good ? nx[l] : x[l], v[l] = good ? nv[l] : v[l];
                kx[l] = good ? lx[l] : kx[l], kv[l] = good ? lv[l] : kv[l];
                taken[l] += good, failed[l] += on & !good;
                h[l] = on ? step[l] * factor : h[l];
                going |= (t[l] < t_end) & (taken[l] + failed[l] < 2000);
            }
        }
        for (int l = 0; l < lanes; l++) {
            int i = first + l;
            states[2 * i] = x[l], states[2 * i + 1] = v[l];
            steps[i] = taken[l], rejected[i] = failed[l];
        }
    }
}
