// Godunov with the exact Riemann solver: eight interfaces side by side; both kinds of waves are worked out and one is
// taken, and lanes that are done stay as they are.
#include "native.h"
enum { W = 8 };
#define G 1.4

__attribute__((simd("notinbranch"))) extern double pow(double, double);

#pragma omp declare simd
static inline double wave(double p, double rho, double pk, double c) {
    double a = 2 / ((G + 1) * rho), b = (G - 1) / (G + 1) * pk, shock = (p - pk) * sqrt(a / (p + b));
    double fan = 2 * c / (G - 1) * (pow(p / pk, (G - 1) / (2 * G)) - 1);
    return p > pk ? shock : fan;
}

typedef struct {
    double rho[W], u[W], v[W], p[W], c[W];
} States;

static void primitive(States *restrict s, const double *restrict rho, const double *restrict mu,
                      const double *restrict mv, const double *restrict e, long at, int lanes) {
#pragma omp simd
    for (int l = 0; l < W; l++) {
        long k = at + (l < lanes ? l : 0);
        double p = (G - 1) * (e[k] - 0.5 * (mu[k] * mu[k] + mv[k] * mv[k]) / rho[k]);
        p = p > 1e-12 ? p : 1e-12;
        s->rho[l] = rho[k], s->u[l] = mu[k] / rho[k], s->v[l] = mv[k] / rho[k], s->p[l] = p;
        s->c[l] = sqrt(G * p / rho[k]);
    }
}

static void godunov(const States *restrict a, const States *restrict b, double flux[4][W]) {
    double p[W], fl[W], fr[W];
    int active[W];
#pragma omp simd
    for (int l = 0; l < W; l++) {
        double guess = 0.5 * (a->p[l] + b->p[l]) -
                       0.125 * (b->u[l] - a->u[l]) * (a->rho[l] + b->rho[l]) * (a->c[l] + b->c[l]);
        p[l] = guess > 1e-8 ? guess : 1e-8;
        active[l] = 1;
    }
    for (int iteration = 0, any = 1; any && iteration < 20; iteration++) {
        any = 0;
#pragma omp simd reduction(| : any)
        for (int l = 0; l < W; l++) {
            double f = b->u[l] - a->u[l], df = 0;
#define SIDE(s)                                                                                                       \
    {                                                                                                                 \
        double pk = s->p[l], ra = 2 / ((G + 1) * s->rho[l]), rb = (G - 1) / (G + 1) * pk, root = sqrt(ra / (p[l] + rb)); \
        double power = pow(p[l] / pk, (G - 1) / (2 * G)), fan = 2 * s->c[l] / (G - 1) * (power - 1);                  \
        double dfan = power * pk / (p[l] * s->rho[l] * s->c[l]);                                                      \
        f += p[l] > pk ? (p[l] - pk) * root : fan;                                                                    \
        df += p[l] > pk ? root * (1 - 0.5 * (p[l] - pk) / (rb + p[l])) : dfan;                                        \
    }
            SIDE(a)
            SIDE(b)
            double next = p[l] - f / df;
            next = next > 1e-10 ? next : 1e-10;
            double change = 2 * fabs(next - p[l]) / (next + p[l]);
            p[l] = active[l] ? next : p[l];
            active[l] = active[l] & (change >= 1e-10);
            any |= active[l];
        }
    }
#pragma omp simd
    for (int l = 0; l < W; l++) {
        double left = wave(p[l], a->rho[l], a->p[l], a->c[l]), right = wave(p[l], b->rho[l], b->p[l], b->c[l]);
        double u = 0.5 * (a->u[l] + b->u[l] + right - left);
        int first = u >= 0;
        double sign = first ? 1 : -1, rho = first ? a->rho[l] : b->rho[l], uk = first ? a->u[l] : b->u[l];
        double v = first ? a->v[l] : b->v[l], pk = first ? a->p[l] : b->p[l], c = first ? a->c[l] : b->c[l];
        double speed = sign * uk, ratio = p[l] / pk, small = (G - 1) / (G + 1);
        double shock = speed - c * sqrt((G + 1) / (2 * G) * ratio + (G - 1) / (2 * G));
        double power = pow(ratio, (G - 1) / (2 * G)), c_star = c * power;
        double c_fan = 2 / (G + 1) * (c + 0.5 * (G - 1) * speed), part = c_fan > 0 ? c_fan / c : 1;
        double part2 = part * part, part5 = part2 * part2 * part;
        double power2 = power * power, power5 = power2 * power2 * power;
        int is_shock = p[l] > pk, keep = is_shock ? shock >= 0 : speed - c >= 0;
        int fan = !is_shock & (sign * u - c_star >= 0);
        double rs = is_shock ? rho * (ratio + small) / (small * ratio + 1) : fan ? rho * part5 : rho * power5;
        double us = fan ? sign * c_fan : u, ps = fan ? pk * part5 * part2 : p[l];
        rs = keep ? rho : rs, us = keep ? uk : us, ps = keep ? pk : ps;
        flux[0][l] = rs * us;
        flux[1][l] = rs * us * us + ps;
        flux[2][l] = rs * us * v;
        flux[3][l] = us * (ps / (G - 1) + 0.5 * rs * (us * us + v * v) + ps);
    }
}

void run(double *restrict rho, double *restrict mx, double *restrict my, double *restrict e, int nx, int ny, double cfl,
         int steps) {
    const long stride = nx + 2, all = stride * (ny + 2);
    double *room = malloc(4 * all * sizeof(double)), *restrict flux[4];
    for (int q = 0; q < 4; q++)
        flux[q] = room + q * all;
#define IDX(i, j) ((j)*stride + (i))
    for (int s = 0; s < steps; s++) {
        double fastest = 0;
        for (int j = 1; j <= ny; j++) {
#pragma omp simd reduction(max : fastest)
            for (int i = 1; i <= nx; i++) {
                long at = IDX(i, j);
                double u = mx[at] / rho[at], v = my[at] / rho[at];
                double p = (G - 1) * (e[at] - 0.5 * (mx[at] * mx[at] + my[at] * my[at]) / rho[at]);
                p = p > 1e-12 ? p : 1e-12;
                double a = fabs(u), b = fabs(v), speed = (a > b ? a : b) + sqrt(G * p / rho[at]);
                fastest = speed > fastest ? speed : fastest;
            }
        }
        double ratio = cfl / fastest;
        for (int direction = 0; direction < 2; direction++) {
            for (int t = 1; t <= (direction ? nx : ny); t++)
                for (int side = 0; side < 2; side++) {
                    long ghost = direction ? IDX(t, side ? ny + 1 : 0) : IDX(side ? nx + 1 : 0, t);
                    long cell = direction ? IDX(t, side ? ny : 1) : IDX(side ? nx : 1, t);
                    rho[ghost] = rho[cell], e[ghost] = e[cell];
                    mx[ghost] = direction ? mx[cell] : -mx[cell];
                    my[ghost] = direction ? -my[cell] : my[cell];
                }
            double *restrict along = direction ? my : mx, *restrict across = direction ? mx : my;
            long next = direction ? stride : 1;
            for (int j = !direction; j <= ny; j++)
                for (int i = direction; i <= nx; i += W) {
                    States a, b;
                    double f[4][W];
                    int lanes = MIN(W, nx + 1 - i);
                    primitive(&a, rho, along, across, e, IDX(i, j), lanes);
                    primitive(&b, rho, along, across, e, IDX(i, j) + next, lanes);
                    godunov(&a, &b, f);
                    for (int q = 0; q < 4; q++)
                        memcpy(flux[q] + IDX(i, j), f[q], lanes * sizeof(double));
                }
            for (int j = 1; j <= ny; j++) {
#pragma omp simd
                for (int i = 1; i <= nx; i++) {
                    long at = IDX(i, j);
                    rho[at] += ratio * (flux[0][at - next] - flux[0][at]);
                    along[at] += ratio * (flux[1][at - next] - flux[1][at]);
                    across[at] += ratio * (flux[2][at - next] - flux[2][at]);
                    e[at] += ratio * (flux[3][at - next] - flux[3][at]);
                }
            }
        }
    }
    free(room);
}
