#include "native.h"

void run(const float *restrict u, float *restrict v, int nx, int ny, float k) {
    for (int y = 0; y < ny; y++) {
        const float *c = u + (long)y * nx, *t = y ? c - nx : c, *b = y < ny - 1 ? c + nx : c;
        float *o = v + (long)y * nx;
        o[0] = c[0] + k * (c[0] + c[1] + t[0] + b[0] - 4 * c[0]);
        for (int x = 1; x < nx - 1; x++)
            o[x] = c[x] + k * (c[x - 1] + c[x + 1] + t[x] + b[x] - 4 * c[x]);
        int x = nx - 1;
        o[x] = c[x] + k * (c[x - 1] + c[x] + t[x] + b[x] - 4 * c[x]);
    }
}
