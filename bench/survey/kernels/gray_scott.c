#include "native.h"

typedef struct {
    float du, dv, feed, kill, dt;
} Rates;

static inline void cell(const float *restrict u, const float *restrict v, float *restrict u_next,
                        float *restrict v_next, long row, long up, long down, int x, int left, int right, Rates k) {
    float uc = u[row + x], vc = v[row + x];
    float lap_u = u[row + left] + u[row + right] + u[up + x] + u[down + x] - 4 * uc;
    float lap_v = v[row + left] + v[row + right] + v[up + x] + v[down + x] - 4 * vc;
    float reaction = uc * vc * vc;
    u_next[row + x] = uc + k.dt * (k.du * lap_u - reaction + k.feed * (1 - uc));
    v_next[row + x] = vc + k.dt * (k.dv * lap_v + reaction - (k.feed + k.kill) * vc);
}

static void step(const float *restrict u, const float *restrict v, float *restrict u_next, float *restrict v_next,
                 int width, int height, Rates k) {
    for (int y = 0; y < height; y++) {
        long row = (long)y * width, up = (long)((y + height - 1) % height) * width;
        long down = (long)((y + 1) % height) * width;
        cell(u, v, u_next, v_next, row, up, down, 0, width - 1, 1, k);
#pragma omp simd
        for (int x = 1; x < width - 1; x++)
            cell(u, v, u_next, v_next, row, up, down, x, x - 1, x + 1, k);
        cell(u, v, u_next, v_next, row, up, down, width - 1, width - 2, 0, k);
    }
}

void run(float *u, float *v, float *u_next, float *v_next, int width, int height, float du, float dv, float feed,
         float kill, float dt, int steps) {
    Rates k = {du, dv, feed, kill, dt};
    for (int s = 0; s < steps; s += 2) {
        step(u, v, u_next, v_next, width, height, k);
        step(u_next, v_next, u, v, width, height, k);
    }
}
