// Spreading of points with complex strengths onto a periodic grid.
#include "native.h"

static const float far_off[4] = {1, 0.60653066f, 0.13533528f, 0.011108997f};

static inline void gaussian(float d, float *w) {
    float base = expf(-0.5f * d * d), step = expf(d), back = 1 / step;
    w[0] = base * back * back * far_off[2];
    w[1] = base * back * far_off[1];
    w[2] = base;
    w[3] = base * step * far_off[1];
    w[4] = base * step * step * far_off[2];
    w[5] = base * step * step * step * far_off[3];
}

static inline int wrapped(int i, int n) {
    int r = i % n;
    return r < 0 ? r + n : r;
}

void run(const double (*restrict points)[2], const float (*restrict strength)[2], float *restrict grid, int count,
         int nx, int ny) {
    for (int i = 0; i < count; i++) {
        double x = points[i][0] * nx, y = points[i][1] * ny;
        int x0 = (int)floor(x), y0 = (int)floor(y);
        float wx[6], wy[6], add[12];
        gaussian(x - x0, wx);
        gaussian(y - y0, wy);
        for (int k = 0; k < 6; k++) {
            add[2 * k] = wx[k] * strength[i][0];
            add[2 * k + 1] = wx[k] * strength[i][1];
        }
        int left = wrapped(x0 - 2, nx), inside = left + 6 <= nx;
        for (int j = 0; j < 6; j++) {
            float *row = grid + (size_t)wrapped(y0 + j - 2, ny) * nx * 2;
            if (inside)
#pragma omp simd
                for (int k = 0; k < 12; k++)
                    row[left * 2 + k] += wy[j] * add[k];
            else
                for (int k = 0; k < 6; k++) {
                    int at = left + k < nx ? left + k : left + k - nx;
                    row[at * 2] += wy[j] * add[2 * k];
                    row[at * 2 + 1] += wy[j] * add[2 * k + 1];
                }
        }
    }
}
