// All roots of quartics by interval Newton steps: lower bounds are kept with their signs turned, so that everything
// is rounded upwards and the processor's mode stays as it is.
#include "native.h"

#include <fenv.h>
#pragma GCC optimize("rounding-math")

enum { DEPTH = 64, ROOTS = 8 };

typedef struct {
    double n, up;  // -low, up
} I;

static inline double most(double a, double b) {
    return a > b ? a : b;
}

static inline I add(I x, I y) {
    return (I){x.n + y.n, x.up + y.up};
}

static inline I mul(I x, I y) {
    return (I){most(most(x.n * -y.n, x.n * y.up), most(x.up * y.n, -x.up * y.up)),
               most(most(x.n * y.n, -x.n * y.up), most(x.up * -y.n, x.up * y.up))};
}

static inline I divide(I x, I y) {
    return (I){most(most(x.n / -y.n, x.n / y.up), most(x.up / y.n, -x.up / y.up)),
               most(most(x.n / y.n, -x.n / y.up), most(x.up / -y.n, x.up / y.up))};
}

static inline int has_zero(I x) {
    return x.n >= 0 && x.up >= 0;
}

static inline I point(double x) {
    return (I){-x, x};
}

static inline I polynomial(const double *c, int degree, I x) {
    I y = point(c[degree]);
    for (int k = degree - 1; k >= 0; k--)
        y = add(mul(y, x), point(c[k]));
    return y;
}

// One quartic's roots, of which it gives the number.
static __attribute__((noinline)) int solve(const double *c, const double *derivative, double *out, double from,
                                           double to, double precise, int steps) {
    I stack[DEPTH] = {{-from, to}};
    int top = 1, found = 0;
    while (steps-- > 0 && top > 0) {
        I x = stack[--top];
        if (!has_zero(polynomial(c, 4, x)))
            continue;
        double width = x.up + x.n, middle = (x.up - x.n) * 0.5;
        if (width < precise) {
            if (found < ROOTS) {
                out[2 * found] = -x.n;
                out[2 * found++ + 1] = x.up;
            }
            continue;
        }
        I slope = polynomial(derivative, 3, x);
        if (!has_zero(slope)) {
            I quotient = divide(polynomial(c, 4, point(middle)), slope);
            I newton = add(point(middle), (I){quotient.up, quotient.n});
            I both = {newton.n < x.n ? newton.n : x.n, newton.up < x.up ? newton.up : x.up};
            if (-both.n > both.up)
                continue;
            if (both.up + both.n < 0.6 * width) {
                stack[top++] = both;
                continue;
            }
        }
        if (top + 2 <= DEPTH) {
            stack[top++] = (I){-middle, x.up};
            stack[top++] = (I){x.n, middle};
        }
    }
    return found;
}

void run(const double *restrict quartics, double *restrict roots, int *restrict counts, int n, double from, double to,
         double precise, int steps) {
    memset(roots, 0, (size_t)n * ROOTS * 2 * sizeof *roots);
    double *derivative = malloc((size_t)n * 4 * sizeof *derivative);
    for (int i = 0; i < n; i++)
        for (int k = 1; k <= 4; k++)
            derivative[4 * i + k - 1] = k * quartics[5 * i + k];
    int mode = fegetround();
    fesetround(FE_UPWARD);
    for (int i = 0; i < n; i++)
        counts[i] = solve(quartics + 5 * i, derivative + 4 * i, roots + (size_t)i * ROOTS * 2, from, to, precise, steps);
    fesetround(mode);
    free(derivative);
}
