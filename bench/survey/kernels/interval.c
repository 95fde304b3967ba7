// All roots of quartics by interval Newton steps: what rounding left out tells which neighbour is the bound.
#include "native.h"

enum { DEPTH = 64, ROOTS = 8 };

typedef struct {
    double low, up;
} I;

static inline double next(double x, int up) {
    if (x == 0)
        return up ? 0x1p-1074 : -0x1p-1074;
    int64_t bits;
    memcpy(&bits, &x, 8);
    bits += (x > 0) == up ? 1 : -1;
    memcpy(&x, &bits, 8);
    return x;
}

static inline double down(double value, double rest) {
    return rest < 0 ? next(value, 0) : value;
}

static inline double above(double value, double rest) {
    return rest > 0 ? next(value, 1) : value;
}

static inline double left_of_sum(double a, double b, double s) {
    double e = s - a;
    return (a - (s - e)) + (b - e);
}

static inline I add(I x, I y) {
    double l = x.low + y.low, u = x.up + y.up;
    return (I){down(l, left_of_sum(x.low, y.low, l)), above(u, left_of_sum(x.up, y.up, u))};
}

static inline I chosen(const double value[4], const double rest[4]) {
    I r = {down(value[0], rest[0]), above(value[0], rest[0])};
    for (int k = 1; k < 4; k++) {
        double l = down(value[k], rest[k]), u = above(value[k], rest[k]);
        r.low = l < r.low ? l : r.low;
        r.up = u > r.up ? u : r.up;
    }
    return r;
}

static inline I mul(I x, I y) {
    double a[4] = {x.low, x.low, x.up, x.up}, b[4] = {y.low, y.up, y.low, y.up}, p[4], e[4];
    for (int k = 0; k < 4; k++) {
        p[k] = a[k] * b[k];
        e[k] = fma(a[k], b[k], -p[k]);
    }
    return chosen(p, e);
}

static inline I divide(I x, I y) {
    double a[4] = {x.low, x.low, x.up, x.up}, b[4] = {y.low, y.up, y.low, y.up}, p[4], e[4];
    for (int k = 0; k < 4; k++) {
        p[k] = a[k] / b[k];
        e[k] = fma(-p[k], b[k], a[k]);
        e[k] = b[k] < 0 ? -e[k] : e[k];
    }
    return chosen(p, e);
}

static inline int has_zero(I x) {
    return x.low <= 0 && x.up >= 0;
}

static inline I point(double x) {
    return (I){x, x};
}

static I f(const double *c, I x) {
    I y = point(c[4]);
    for (int k = 3; k >= 0; k--)
        y = add(mul(y, x), point(c[k]));
    return y;
}

static I derivative(const double *c, I x) {
    I y = point(4 * c[4]);
    for (int k = 3; k >= 1; k--)
        y = add(mul(y, x), point(k * c[k]));
    return y;
}

void run(const double *restrict quartics, double *restrict roots, int *restrict counts, int n, double from, double to,
         double precise, int most) {
    memset(roots, 0, (size_t)n * ROOTS * sizeof(I));
    for (int i = 0; i < n; i++) {
        const double *c = quartics + 5 * i;
        I stack[DEPTH] = {{from, to}}, *out = (I *)roots + (size_t)i * ROOTS;
        int top = 1, found = 0;
        for (int step = 0; step < most && top > 0; step++) {
            I x = stack[--top];
            if (!has_zero(f(c, x)))
                continue;
            double width = x.up - x.low, middle = (x.low + x.up) * 0.5;
            if (width < precise) {
                if (found < ROOTS)
                    out[found++] = x;
                continue;
            }
            I slope = derivative(c, x);
            if (!has_zero(slope)) {
                I quotient = divide(f(c, point(middle)), slope);
                I newton = add(point(middle), (I){-quotient.up, -quotient.low});
                double low = MAX(newton.low, x.low), up = MIN(newton.up, x.up);
                if (low > up)
                    continue;
                if (up - low < 0.6 * width) {
                    stack[top++] = (I){low, up};
                    continue;
                }
            }
            if (top + 2 <= DEPTH) {
                stack[top++] = (I){middle, x.up};
                stack[top++] = (I){x.low, middle};
            }
        }
        counts[i] = found;
    }
}
