// FitzHugh and Nagumo's waves on a torus by Runge and Kutta's four stages; a stage is one pass.
#include "native.h"

typedef struct {
    float diffusion, a, b, epsilon;
} Params;

static inline void rates(float s, float around, float r, Params p, float *du, float *dv) {
    *du = p.diffusion * (around - 4 * s) + s - s * s * s / 3 - r;
    *dv = p.epsilon * (s + p.a - p.b * r);
}

void run(float *restrict u, float *restrict v, int w, int h, float diffusion, float a, float b, float epsilon, float dt,
         int steps) {
    Params p = {diffusion, a, b, epsilon};
    size_t n = (size_t)w * h;
    float *restrict memory = malloc(sizeof(float) * 6 * n);
    float *su = memory, *sv = su + n, *tu = sv + n, *tv = tu + n, *au = tv + n, *av = au + n;
    const float ahead[3] = {dt / 2, dt / 2, dt}, weight[4] = {1, 2, 2, 1};
    for (int step = 0; step < steps; step++) {
        for (int stage = 0; stage < 4; stage++) {
            const float *fu = stage ? su : u, *fv = stage ? sv : v;
            float c = weight[stage], far = stage < 3 ? ahead[stage] : 0;
            for (int y = 0; y < h; y++) {
                const float *mid = fu + (size_t)y * w, *up = fu + (size_t)(y ? y - 1 : h - 1) * w;
                const float *down = fu + (size_t)(y + 1 < h ? y + 1 : 0) * w, *other = fv + (size_t)y * w;
                float *restrict nu = tu + (size_t)y * w, *restrict nv = tv + (size_t)y * w;
                float *restrict mu = au + (size_t)y * w, *restrict mv = av + (size_t)y * w;
                const float *bu = u + (size_t)y * w, *bv = v + (size_t)y * w;
#define CELL(x, left, right)                                                                                           \
    do {                                                                                                               \
        float du, dv;                                                                                                  \
        rates(mid[x], up[x] + down[x] + mid[left] + mid[right], other[x], p, &du, &dv);                                \
        mu[x] = stage ? mu[x] + c * du : du;                                                                           \
        mv[x] = stage ? mv[x] + c * dv : dv;                                                                           \
        nu[x] = bu[x] + far * du;                                                                                      \
        nv[x] = bv[x] + far * dv;                                                                                      \
    } while (0)
                CELL(0, w - 1, 1);
#pragma omp simd
                for (int x = 1; x < w - 1; x++)
                    CELL(x, x - 1, x + 1);
                CELL(w - 1, w - 2, 0);
            }
            float *t = su;
            su = tu;
            tu = t;
            t = sv;
            sv = tv;
            tv = t;
        }
        for (size_t i = 0; i < n; i++) {
            u[i] += dt / 6 * au[i];
            v[i] += dt / 6 * av[i];
        }
    }
    free(memory);
}
