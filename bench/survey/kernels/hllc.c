// HLLC in one direction after the other: fluxes of many edges side by side, in arrays of each number.
#include "native.h"
#define GAMMA 1.4f

typedef struct {
    float rho, mx, my, e;
} Cons;

static inline float minmod(float a, float b) {
    float m = fabsf(a) < fabsf(b) ? a : b;
    return a * b <= 0 ? 0 : m;
}

// Edges between cells i and i + 1, of which w[f] + i are numbers; `s` is from a cell to the next.
static void fluxes(float *const w[4], float *const f[4], int n, int s) {
    const float *restrict R = w[0], *restrict U = w[1], *restrict V = w[2], *restrict P = w[3];
    float *restrict f0 = f[0], *restrict f1 = f[1], *restrict f2 = f[2], *restrict f3 = f[3];
#define LEFT(A) (A[i] + 0.5f * minmod(A[i] - A[i - s], A[i + s] - A[i]))
#define RIGHT(A) (A[i + s] - 0.5f * minmod(A[i + s] - A[i], A[i + 2 * s] - A[i + s]))
#pragma omp simd
    for (int i = 0; i < n; i++) {
        float rl = LEFT(R), ul = LEFT(U), vl = LEFT(V), pl = LEFT(P);
        float rr = RIGHT(R), ur = RIGHT(U), vr = RIGHT(V), pr = RIGHT(P);
        float cl = sqrtf(GAMMA * pl / rl), cr = sqrtf(GAMMA * pr / rr);
        float l1 = ul - cl, l2 = ur - cr, r1 = ul + cl, r2 = ur + cr;
        float sl = l1 < l2 ? l1 : l2, sr = r1 > r2 ? r1 : r2;
        float el = pl / (GAMMA - 1) + 0.5f * rl * (ul * ul + vl * vl);
        float er = pr / (GAMMA - 1) + 0.5f * rr * (ur * ur + vr * vr);
        float al = rl * (sl - ul), ar = rr * (sr - ur), sm = (pr - pl + al * ul - ar * ur) / (al - ar);
        int left = (sl >= 0) | (sr > 0) & (sm >= 0), pure = (sl >= 0) | (sr <= 0);
        float r = left ? rl : rr, u = left ? ul : ur, v = left ? vl : vr, p = left ? pl : pr;
        float e = left ? el : er, a = left ? al : ar, side = left ? sl : sr;
        float k = a / (side - sm), es = k * (e / r + (sm - u) * (sm + p / a)), on = pure ? 0 : side;
        k = pure ? r : k, es = pure ? e : es;
        f0[i] = r * u + on * (k - r);
        f1[i] = r * u * u + p + on * (k * sm - r * u);
        f2[i] = r * u * v + on * (k * v - r * v);
        f3[i] = u * (e + p) + on * (es - e);
    }
}

static inline void primitive(const Cons *restrict q, float *restrict r, float *restrict u, float *restrict v,
                             float *restrict p, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++) {
        float inv = q[i].rho;
        r[i] = inv;
        u[i] = q[i].mx / inv;
        v[i] = q[i].my / inv;
        p[i] = (GAMMA - 1) * (q[i].e - 0.5f * (q[i].mx * u[i] + q[i].my * v[i]));
    }
}

static inline void apply(const Cons *restrict q, Cons *restrict next, float *const in[4], float *const out[4], int n,
                         float step, int mx, int my) {
    const float *restrict a0 = in[0], *restrict a1 = in[mx], *restrict a2 = in[my], *restrict a3 = in[3];
    const float *restrict b0 = out[0], *restrict b1 = out[mx], *restrict b2 = out[my], *restrict b3 = out[3];
#pragma omp simd
    for (int i = 0; i < n; i++) {
        next[i].rho = q[i].rho + step * (a0[i] - b0[i]);
        next[i].mx = q[i].mx + step * (a1[i] - b1[i]);
        next[i].my = q[i].my + step * (a2[i] - b2[i]);
        next[i].e = q[i].e + step * (a3[i] - b3[i]);
    }
}

static void along_x(const Cons *q, Cons *next, float *own, int nx, int ny, float step) {
    int s = nx + 8;
    float *w[4], *f[4], *in[4], *out[4];
    for (int k = 0; k < 4; k++)
        w[k] = own + k * s + 2, f[k] = own + (4 + k) * s, in[k] = f[k], out[k] = f[k] + 1;
    for (int y = 0; y < ny; y++) {
        primitive(q + (long)y * nx, w[0], w[1], w[2], w[3], nx);
        for (int k = 0; k < 4; k++) {
            w[k][-2] = w[k][-1] = w[k][0];
            w[k][nx] = w[k][nx + 1] = w[k][nx - 1];
        }
        float *from[4] = {w[0] - 1, w[1] - 1, w[2] - 1, w[3] - 1};
        fluxes(from, f, nx + 1, 1);
        apply(q + (long)y * nx, next + (long)y * nx, in, out, nx, step, 1, 2);
    }
}

// Rows of numbers with two more above and below; fluxes of two edges of rows at a time.
static void along_y(const Cons *q, Cons *next, float *own, int nx, int ny, float step) {
    long s = (long)nx * (ny + 4);
    float *w[4], *f[2][4];
    for (int k = 0; k < 4; k++) {
        w[k] = own + k * s;
        f[0][k] = own + 4 * s + k * nx;
        f[1][k] = own + 4 * s + (4 + k) * nx;
    }
    for (int y = -2; y < ny + 2; y++) {
        long at = (long)(y + 2) * nx;
        primitive(q + (long)MIN(MAX(y, 0), ny - 1) * nx, w[0] + at, w[2] + at, w[1] + at, w[3] + at, nx);
    }
    for (int y = 0; y <= ny; y++) {
        long at = (long)(y + 1) * nx;
        float *from[4] = {w[0] + at, w[1] + at, w[2] + at, w[3] + at};
        fluxes(from, f[y & 1], nx, nx);
        if (y > 0)
            apply(q + (long)(y - 1) * nx, next + (long)(y - 1) * nx, f[~y & 1], f[y & 1], nx, step, 2, 1);
    }
}

void run(Cons *q, Cons *next, float *speed0, float *speed1, int nx, int ny, float cfl) {
    float *own = malloc((4L * nx * (ny + 4) + 8L * (nx + 8)) * sizeof(float));
    for (int t = 0; t < 2; t++) {
        float *speed = t ? speed1 : speed0;
        float fastest = *speed;
#pragma omp simd reduction(max : fastest)
        for (long i = 0; i < (long)nx * ny; i++) {
            float u = q[i].mx / q[i].rho, v = q[i].my / q[i].rho;
            float p = (GAMMA - 1) * (q[i].e - 0.5f * (q[i].mx * u + q[i].my * v)), c = sqrtf(GAMMA * p / q[i].rho);
            float a = fabsf(u), b = fabsf(v), most = (a > b ? a : b) + c;
            fastest = most > fastest ? most : fastest;
        }
        *speed = fastest;
        along_x(q, next, own, nx, ny, cfl / fastest);
        along_y(next, q, own, nx, ny, cfl / fastest);
    }
    free(own);
}
