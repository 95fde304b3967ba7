// Area, volume, centre and box of a mesh as a binary STL file has it.
#include "native.h"
#include <float.h>

void run(const uchar *restrict file, double *restrict sums, float *restrict box, int n) {
    double area = 0, all = 0, c0 = 0, c1 = 0, c2 = 0;
    float low[3] = {FLT_MAX, FLT_MAX, FLT_MAX}, high[3] = {-FLT_MAX, -FLT_MAX, -FLT_MAX};
    int flipped = 0;
    for (int i = 0; i < n; i++) {
        float f[12];
        memcpy(f, file + 84 + 50 * (size_t)i, sizeof f);
        const float *a = f + 3, *b = f + 6, *c = f + 9;
        float u0 = b[0] - a[0], u1 = b[1] - a[1], u2 = b[2] - a[2];
        float v0 = c[0] - a[0], v1 = c[1] - a[1], v2 = c[2] - a[2];
        double nx = u1 * v2 - u2 * v1, ny = u2 * v0 - u0 * v2, nz = u0 * v1 - u1 * v0;
        double volume = (a[0] * nx + a[1] * ny + a[2] * nz) / 6;
        area += 0.5 * sqrt(nx * nx + ny * ny + nz * nz);
        all += volume;
        c0 += volume * (a[0] + b[0] + c[0]) / 4;
        c1 += volume * (a[1] + b[1] + c[1]) / 4;
        c2 += volume * (a[2] + b[2] + c[2]) / 4;
        flipped += nx * f[0] + ny * f[1] + nz * f[2] < 0;
        for (int k = 0; k < 3; k++) {
            low[k] = MIN(low[k], MIN(a[k], MIN(b[k], c[k])));
            high[k] = MAX(high[k], MAX(a[k], MAX(b[k], c[k])));
        }
    }
    sums[0] = area, sums[1] = all, sums[2] = c0 / all, sums[3] = c1 / all, sums[4] = c2 / all, sums[5] = flipped;
    memcpy(box, low, sizeof low);
    memcpy(box + 3, high, sizeof high);
}
