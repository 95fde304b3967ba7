#include "native.h"

typedef struct {
    float x, y;
} float2;

void run(float *restrict x, float *restrict y, float *restrict vx, float *restrict vy, float *restrict density,
         const float *restrict potential, float2 *restrict field, int n, int nx, int ny, float inv_cell, float charge,
         float dt) {
    for (int p = 0; p < n; p++) {
        float gx = x[p] * inv_cell, gy = y[p] * inv_cell;
        int ix = (int)gx, iy = (int)gy;
        float fx = gx - ix, fy = gy - iy;
        ix = ix >= nx ? ix - nx : ix;
        iy = iy >= ny ? iy - ny : iy;
        int ix1 = ix + 1 < nx ? ix + 1 : 0, iy1 = iy + 1 < ny ? iy + 1 : 0;
        density[iy * nx + ix] += charge * (1 - fx) * (1 - fy);
        density[iy * nx + ix1] += charge * fx * (1 - fy);
        density[iy1 * nx + ix] += charge * (1 - fx) * fy;
        density[iy1 * nx + ix1] += charge * fx * fy;
    }

    float k = 0.5f * inv_cell;
    for (int iy = 0; iy < ny; iy++) {
        const float *at = potential + iy * nx;
        const float *down = potential + (iy == 0 ? ny - 1 : iy - 1) * nx;
        const float *up = potential + (iy + 1 < ny ? iy + 1 : 0) * nx;
        float2 *out = field + iy * nx;
        out[0] = (float2){k * (at[nx - 1] - at[1]), k * (down[0] - up[0])};
#pragma omp simd
        for (int ix = 1; ix < nx - 1; ix++) {
            out[ix].x = k * (at[ix - 1] - at[ix + 1]);
            out[ix].y = k * (down[ix] - up[ix]);
        }
        out[nx - 1] = (float2){k * (at[nx - 2] - at[0]), k * (down[nx - 1] - up[nx - 1])};
    }

    float lx = nx / inv_cell, ly = ny / inv_cell;
#pragma omp simd
    for (int p = 0; p < n; p++) {
        float gx = x[p] * inv_cell, gy = y[p] * inv_cell;
        int ix = (int)gx, iy = (int)gy;
        float fx = gx - ix, fy = gy - iy;
        ix = ix >= nx ? ix - nx : ix;
        iy = iy >= ny ? iy - ny : iy;
        int ix1 = ix + 1 < nx ? ix + 1 : 0, iy1 = iy + 1 < ny ? iy + 1 : 0;
        int a = iy * nx + ix, b = iy * nx + ix1, c = iy1 * nx + ix, d = iy1 * nx + ix1;
        float wa = (1 - fx) * (1 - fy), wb = fx * (1 - fy), wc = (1 - fx) * fy, wd = fx * fy;
        float ex = wa * field[a].x + wb * field[b].x + wc * field[c].x + wd * field[d].x;
        float ey = wa * field[a].y + wb * field[b].y + wc * field[c].y + wd * field[d].y;
        float sx = vx[p] + charge * ex * dt, sy = vy[p] + charge * ey * dt;
        float px = x[p] + sx * dt, py = y[p] + sy * dt;
        px = px < 0 ? px + lx : px;
        py = py < 0 ? py + ly : py;
        vx[p] = sx;
        vy[p] = sy;
        x[p] = px >= lx ? px - lx : px;
        y[p] = py >= ly ? py - ly : py;
    }
}
