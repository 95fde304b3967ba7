// Euler's equations on triangles: limited gradients by least squares, HLL fluxes.
#include "native.h"

#define G 1.4

typedef struct {
    double nx, ny, length, mx, my;
    int neighbour, pad;
} Edge;

typedef struct {
    double v[4];  // density, velocities, pressure
} State;

static inline double less(double a, double b) {
    return a < b ? a : b;
}

static inline double more(double a, double b) {
    return a > b ? a : b;
}

static inline State mirrored(State s, double nx, double ny) {
    double un = 2 * (s.v[1] * nx + s.v[2] * ny);
    s.v[1] -= un * nx;
    s.v[2] -= un * ny;
    return s;
}

static inline State at_edge(State s, const double *g, double dx, double dy) {
    for (int i = 0; i < 4; i++)
        s.v[i] += g[2 * i] * dx + g[2 * i + 1] * dy;
    return s;
}

static inline void flux(const State *s, double un, double e, double nx, double ny, double *f) {
    f[0] = s->v[0] * un;
    f[1] = s->v[0] * s->v[1] * un + s->v[3] * nx;
    f[2] = s->v[0] * s->v[2] * un + s->v[3] * ny;
    f[3] = (e + s->v[3]) * un;
}

static inline void hll(State l, State r, double nx, double ny, double *f) {
    double ul = l.v[1] * nx + l.v[2] * ny, ur = r.v[1] * nx + r.v[2] * ny;
    double cl = sqrt(G * l.v[3] / l.v[0]), cr = sqrt(G * r.v[3] / r.v[0]);
    double sl = less(ul - cl, ur - cr), sr = more(ul + cl, ur + cr);
    double el = l.v[3] / (G - 1) + 0.5 * l.v[0] * (l.v[1] * l.v[1] + l.v[2] * l.v[2]);
    double er = r.v[3] / (G - 1) + 0.5 * r.v[0] * (r.v[1] * r.v[1] + r.v[2] * r.v[2]);
    double fr[4];
    if (sr <= 0) {
        flux(&r, ur, er, nx, ny, f);
        return;
    }
    flux(&l, ul, el, nx, ny, f);
    if (sl >= 0)
        return;
    flux(&r, ur, er, nx, ny, fr);
    double inv = 1 / (sr - sl), ss = sl * sr;
    double d[4] = {r.v[0] - l.v[0], r.v[0] * r.v[1] - l.v[0] * l.v[1], r.v[0] * r.v[2] - l.v[0] * l.v[2], er - el};
    for (int i = 0; i < 4; i++)
        f[i] = (sr * f[i] - sl * fr[i] + ss * d[i]) * inv;
}

void run(double *restrict q, State *restrict w, const double *restrict centre, const double *restrict area,
         const Edge *restrict edges, double *restrict gradient, int cells, double dt, int steps) {
    for (int s = 0; s < steps; s++) {
        for (int c = 0; c < cells; c++) {
            double inv = 1 / q[4 * c], u = q[4 * c + 1] * inv, v = q[4 * c + 2] * inv;
            w[c] = (State){{q[4 * c], u, v, (G - 1) * (q[4 * c + 3] - 0.5 * q[4 * c] * (u * u + v * v))}};
        }
        for (int c = 0; c < cells; c++) {
            State mine = w[c], low = mine, high = mine;
            double x = centre[2 * c], y = centre[2 * c + 1], xx = 0, xy = 0, yy = 0, bx[4] = {0}, by[4] = {0};
            for (int k = 0; k < 3; k++) {
                const Edge *e = edges + 3 * c + k;
                int n = e->neighbour;
                State other = n >= 0 ? w[n] : mirrored(mine, e->nx, e->ny);
                double dx = n >= 0 ? centre[2 * n] - x : 2 * (e->mx - x);
                double dy = n >= 0 ? centre[2 * n + 1] - y : 2 * (e->my - y);
                xx += dx * dx, xy += dx * dy, yy += dy * dy;
                for (int i = 0; i < 4; i++) {
                    double d = other.v[i] - mine.v[i];
                    bx[i] += dx * d;
                    by[i] += dy * d;
                    low.v[i] = less(low.v[i], other.v[i]);
                    high.v[i] = more(high.v[i], other.v[i]);
                }
            }
            double inv = 1 / (xx * yy - xy * xy);
            for (int i = 0; i < 4; i++) {
                double gx = (yy * bx[i] - xy * by[i]) * inv, gy = (xx * by[i] - xy * bx[i]) * inv, limit = 1;
                for (int k = 0; k < 3; k++) {
                    const Edge *e = edges + 3 * c + k;
                    double d = gx * (e->mx - x) + gy * (e->my - y);
                    if (fabs(d) > 1e-14)
                        limit = less(limit, ((d > 0 ? high.v[i] : low.v[i]) - mine.v[i]) / d);
                }
                gradient[8 * c + 2 * i] = gx * limit;
                gradient[8 * c + 2 * i + 1] = gy * limit;
            }
        }
        for (int c = 0; c < cells; c++) {
            double x = centre[2 * c], y = centre[2 * c + 1], sum[4] = {0}, f[4];
            for (int k = 0; k < 3; k++) {
                const Edge *e = edges + 3 * c + k;
                int n = e->neighbour;
                State l = at_edge(w[c], gradient + 8 * c, e->mx - x, e->my - y);
                State r = n >= 0 ? at_edge(w[n], gradient + 8 * n, e->mx - centre[2 * n], e->my - centre[2 * n + 1])
                                 : mirrored(l, e->nx, e->ny);
                hll(l, r, e->nx, e->ny, f);
                for (int i = 0; i < 4; i++)
                    sum[i] += f[i] * e->length;
            }
            for (int i = 0; i < 4; i++)
                q[4 * c + i] -= dt / area[c] * sum[i];
        }
    }
}
