// Adaptive quadrature with a stack of intervals.
#include "native.h"

typedef struct {
    int kind;
    float pad;
    double a, b, low, high;
} Parameters;

static inline double value(int kind, double a, double b, double x) {
    if (kind == 0)
        return 1 / (a + (x - b) * (x - b));
    if (kind == 1)
        return sqrt(fabs(x - b)) * (1 + a * x * x);
    double y = x * b, z = y - floor(y) - 0.5;
    return x / (a + z * z);
}

static inline __attribute__((always_inline)) double integrate(int kind, const Parameters *p, double tolerance,
                                                               int *pieces) {
    double stack[64][2], sum = 0, a = p->a, b = p->b, scale = tolerance / (p->high - p->low);
    int top = 1, accepted = 0;
    stack[0][0] = p->low;
    stack[0][1] = p->high;
    while (top) {
        double l = stack[--top][0], r = stack[top][1], middle = 0.5 * (l + r), width = r - l;
        double fl = value(kind, a, b, l), fm = value(kind, a, b, middle), fr = value(kind, a, b, r);
        double f1 = value(kind, a, b, 0.5 * (l + middle)), f2 = value(kind, a, b, 0.5 * (middle + r));
        double whole = (fl + 4 * fm + fr) * width / 6;
        double halves = (fl + 4 * f1 + fm) * (middle - l) / 6 + (fm + 4 * f2 + fr) * (r - middle) / 6;
        double error = (halves - whole) / 15;
        if (fabs(error) <= scale * width || width < 1e-9) {
            sum += halves + error;
            accepted++;
        } else {
            stack[top][0] = middle;
            stack[top++][1] = r;
            stack[top][0] = l;
            stack[top++][1] = middle;
        }
    }
    *pieces = accepted;
    return sum;
}

void run(const Parameters *restrict parameters, double *restrict integrals, int *restrict pieces, int count,
         double tolerance) {
    for (int i = 0; i < count; i++) {
        const Parameters *p = parameters + i;
        integrals[i] = p->kind == 0   ? integrate(0, p, tolerance, pieces + i)
                       : p->kind == 1 ? integrate(1, p, tolerance, pieces + i)
                                      : integrate(2, p, tolerance, pieces + i);
    }
}
