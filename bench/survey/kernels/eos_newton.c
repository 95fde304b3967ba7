// Equations of state, a cell at a time.
#include "native.h"

static int from_table(double rho, double e, int n_rho, int n_t, const double *restrict rs, const double *restrict ts,
                      const double *restrict energy, const double *restrict heat, const double *restrict pressure,
                      double tolerance, int most, double *t, double *p, double *c2) {
    int r = 0;
    for (int high = n_rho - 1; high - r > 1;) {
        int mid = (r + high) / 2;
        if (rs[mid] <= rho)
            r = mid;
        else
            high = mid;
    }
    double w = (rho - rs[r]) / (rs[r + 1] - rs[r]);
    const double *el = energy + r * n_t, *eu = el + n_t, *cl = heat + r * n_t, *cu = cl + n_t;
    const double *pl = pressure + r * n_t, *pu = pl + n_t;
    int k = 0;
    for (int high = n_t - 1; high - k > 1;) {
        int mid = (k + high) / 2;
        if (el[mid] + w * (eu[mid] - el[mid]) <= e)
            k = mid;
        else
            high = mid;
    }
    double width = ts[k + 1] - ts[k], e0 = el[k] + w * (eu[k] - el[k]), e1 = el[k + 1] + w * (eu[k + 1] - el[k + 1]);
    double d0 = cl[k] + w * (cu[k] - cl[k]), d1 = cl[k + 1] + w * (cu[k + 1] - cl[k + 1]);
    double a = e1 - e0 - width * d0, b = width * d1 - (e1 - e0), k2 = 2 * a - b, k3 = b - a;
    double left = 0, right = 1, s = (e - e0) / (e1 - e0), slope = d0;
    s = s < 0 ? 0 : s > 1 ? 1 : s;
    int rounds = 0;
    for (; rounds < most; rounds++) {
        double f = e0 + s * (width * d0 + s * (k2 + s * k3)) - e;
        slope = d0 + s * (2 * k2 + s * 3 * k3) / width;
        if (fabs(f) <= tolerance * fabs(e))
            break;
        if (f > 0)
            right = s;
        else
            left = s;
        s -= f / (slope * width);
        if (!(s > left && s < right))
            s = 0.5 * (left + right);
    }
    double lower = pl[k] + s * (pl[k + 1] - pl[k]), upper = pu[k] + s * (pu[k + 1] - pu[k]);
    double dp = (pl[k + 1] - pl[k] + w * (pu[k + 1] - pu[k] - pl[k + 1] + pl[k])) / width;
    *t = ts[k] + s * width;
    *p = lower + w * (upper - lower);
    *c2 = (upper - lower) / (rs[r + 1] - rs[r]) + *t * dp * dp / (rho * rho * slope);
    return rounds;
}

void run(const double *restrict rho, const double *restrict energy, const uchar *restrict kind,
         const double *restrict speed, double *restrict temperature, double *restrict pressure, double *restrict sound,
         int *restrict rounds, double *restrict shortest, const double *restrict rs, const double *restrict ts,
         const double *restrict e_table, const double *restrict c_table, const double *restrict p_table, int n,
         int n_rho, int n_t, double gamma, double cv, double gamma_plasma, double cv_plasma, double radiation,
         double tolerance, int most, double side) {
    for (int i = 0; i < n; i++) {
        double d = rho[i], e = energy[i], t, p, c2;
        int count = 0;
        if (kind[i] == 0) {
            t = e / cv;
            p = (gamma - 1) * d * e;
            c2 = gamma * p / d;
        } else if (kind[i] == 1) {
            count = from_table(d, e, n_rho, n_t, rs, ts, e_table, c_table, p_table, tolerance, most, &t, &p, &c2);
        } else {
            double a = radiation / d, x = e / cv_plasma, y = sqrt(sqrt(e / a));
            t = x < y ? x : y;
            for (; count < most; count++) {
                double t3 = t * t * t, f = cv_plasma * t + a * t3 * t - e;
                if (fabs(f) <= tolerance * e)
                    break;
                t -= f / (cv_plasma + 4 * a * t3);
            }
            double gas = (gamma_plasma - 1) * d * cv_plasma * t, radiant = radiation * t * t * t * t / 3;
            double dp = (gas + 4 * radiant) / t;
            p = gas + radiant;
            c2 = gas / d + t * dp * dp / (d * d * (cv_plasma + 12 * radiant / (d * t)));
        }
        temperature[i] = t;
        pressure[i] = p;
        sound[i] = sqrt(c2 > 1e-20 ? c2 : 1e-20);
        rounds[i] = count;
    }
    double least = 1e30;
#pragma omp simd reduction(min : least)
    for (int i = 0; i < n; i++) {
        double step = side / (sound[i] + fabs(speed[i]));
        least = step < least ? step : least;
    }
    *shortest = least;
}
