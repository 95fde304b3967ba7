#include "native.h"

typedef struct { double x, y, z; } V;
static inline V f(V p) { return (V){10 * (p.y - p.x), p.x * (28 - p.z) - p.y, p.x * p.y - 8.0 / 3 * p.z}; }
static inline V step(V p, V d, double h) { return (V){p.x + h * d.x, p.y + h * d.y, p.z + h * d.z}; }
void run(double *restrict x, double *restrict y, double *restrict z, int n, int steps, double h) {
    for (int i = 0; i < n; i++) {
        V p = {x[i], y[i], z[i]};
        for (int s = 0; s < steps; s++) {
            V a = f(p), b = f(step(p, a, h / 2)), c = f(step(p, b, h / 2)), d = f(step(p, c, h));
            p.x += h / 6 * (a.x + 2 * b.x + 2 * c.x + d.x);
            p.y += h / 6 * (a.y + 2 * b.y + 2 * c.y + d.y);
            p.z += h / 6 * (a.z + 2 * b.z + 2 * c.z + d.z);
        }
        x[i] = p.x;
        y[i] = p.y;
        z[i] = p.z;
    }
}
