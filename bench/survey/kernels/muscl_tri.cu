// Euler's equations on a mesh of triangles, cells in any order: gradients by least squares, the limiter of Barth and
// Jespersen, fluxes by HLL; a thread a cell, so each edge is worked out twice. Boundaries are walls.
#include <cuda_runtime.h>
#define GAMMA 1.4

struct State {
    double rho, u, v, p;
    __device__ double &operator[](int i) { return (&rho)[i]; }
    __device__ const double &operator[](int i) const { return (&rho)[i]; }
};

struct __align__(16) Edge {
    double nx, ny, length, mx, my;  // outward normal, midpoint
    int neighbour, pad;
};

extern "C" __global__ void tri_primitive(const double4_16a *__restrict__ conserved, State *__restrict__ w, int cells) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cells)
        return;
    double4_16a q = conserved[c];
    double inv = 1.0 / q.x, u = q.y * inv, v = q.z * inv;
    State s;
    s.rho = q.x;
    s.u = u;
    s.v = v;
    s.p = (GAMMA - 1.0) * (q.w - 0.5 * q.x * (u * u + v * v));
    w[c] = s;
}

__device__ __forceinline__ State mirrored(State s, double nx, double ny) {
    double un = s.u * nx + s.v * ny;
    s.u -= 2.0 * un * nx;
    s.v -= 2.0 * un * ny;
    return s;
}

extern "C" __global__ void tri_gradient(const State *__restrict__ w, const double2 *__restrict__ centre,
                                        const Edge *__restrict__ edges, double2 *__restrict__ gradient, int cells) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cells)
        return;
    State mine = w[c], low = mine, high = mine;
    double2 at = centre[c];
    double xx = 0, xy = 0, yy = 0, bx[4] = {}, by[4] = {};
    for (int k = 0; k < 3; k++) {
        const Edge &e = edges[3 * c + k];
        State other;
        double dx, dy;
        if (e.neighbour >= 0) {
            other = w[e.neighbour];
            double2 there = centre[e.neighbour];
            dx = there.x - at.x;
            dy = there.y - at.y;
        } else {
            other = mirrored(mine, e.nx, e.ny);
            dx = 2.0 * (e.mx - at.x);
            dy = 2.0 * (e.my - at.y);
        }
        xx += dx * dx;
        xy += dx * dy;
        yy += dy * dy;
        for (int i = 0; i < 4; i++) {
            double d = other[i] - mine[i];
            bx[i] += dx * d;
            by[i] += dy * d;
            low[i] = fmin(low[i], other[i]);
            high[i] = fmax(high[i], other[i]);
        }
    }
    double inv = 1.0 / (xx * yy - xy * xy);
    for (int i = 0; i < 4; i++) {
        double gx = (yy * bx[i] - xy * by[i]) * inv, gy = (xx * by[i] - xy * bx[i]) * inv;
        double limit = 1.0;
        for (int k = 0; k < 3; k++) {
            const Edge &e = edges[3 * c + k];
            double d = gx * (e.mx - at.x) + gy * (e.my - at.y);
            if (d > 1e-14)
                limit = fmin(limit, (high[i] - mine[i]) / d);
            else if (d < -1e-14)
                limit = fmin(limit, (low[i] - mine[i]) / d);
        }
        gradient[4 * c + i] = make_double2(gx * limit, gy * limit);
    }
}

__device__ State at_edge(const State &s, const double2 *__restrict__ g, double dx, double dy) {
    State r;
    for (int i = 0; i < 4; i++)
        r[i] = s[i] + g[i].x * dx + g[i].y * dy;
    return r;
}

__device__ double4_16a hll(const State &l, const State &r, double nx, double ny) {
    double ul = l.u * nx + l.v * ny, ur = r.u * nx + r.v * ny;
    double cl = sqrt(GAMMA * l.p / l.rho), cr = sqrt(GAMMA * r.p / r.rho);
    double sl = fmin(ul - cl, ur - cr), sr = fmax(ul + cl, ur + cr);
    double el = l.p / (GAMMA - 1.0) + 0.5 * l.rho * (l.u * l.u + l.v * l.v);
    double er = r.p / (GAMMA - 1.0) + 0.5 * r.rho * (r.u * r.u + r.v * r.v);
    double4_16a fl = {l.rho * ul, l.rho * l.u * ul + l.p * nx, l.rho * l.v * ul + l.p * ny, (el + l.p) * ul};
    if (sl >= 0.0)
        return fl;
    double4_16a fr = {r.rho * ur, r.rho * r.u * ur + r.p * nx, r.rho * r.v * ur + r.p * ny, (er + r.p) * ur};
    if (sr <= 0.0)
        return fr;
    double inv = 1.0 / (sr - sl), ss = sl * sr;
    return {(sr * fl.x - sl * fr.x + ss * (r.rho - l.rho)) * inv,
            (sr * fl.y - sl * fr.y + ss * (r.rho * r.u - l.rho * l.u)) * inv,
            (sr * fl.z - sl * fr.z + ss * (r.rho * r.v - l.rho * l.v)) * inv,
            (sr * fl.w - sl * fr.w + ss * (er - el)) * inv};
}

extern "C" __global__ void tri_update(double4_16a *__restrict__ conserved, const State *__restrict__ w,
                                      const double2 *__restrict__ centre, const double *__restrict__ area,
                                      const Edge *__restrict__ edges, const double2 *__restrict__ gradient, int cells,
                                      double dt) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cells)
        return;
    State mine = w[c];
    double2 at = centre[c];
    double4_16a sum = {0, 0, 0, 0};
    for (int k = 0; k < 3; k++) {
        const Edge e = edges[3 * c + k];
        State l = at_edge(mine, gradient + 4 * c, e.mx - at.x, e.my - at.y), r;
        if (e.neighbour >= 0) {
            double2 there = centre[e.neighbour];
            r = at_edge(w[e.neighbour], gradient + 4 * e.neighbour, e.mx - there.x, e.my - there.y);
        } else {
            r = mirrored(l, e.nx, e.ny);
        }
        double4_16a f = hll(l, r, e.nx, e.ny);
        sum.x += f.x * e.length;
        sum.y += f.y * e.length;
        sum.z += f.z * e.length;
        sum.w += f.w * e.length;
    }
    double step = dt / area[c];
    double4_16a q = conserved[c];
    conserved[c] = make_double4_16a(q.x - step * sum.x, q.y - step * sum.y, q.z - step * sum.z, q.w - step * sum.w);
}
