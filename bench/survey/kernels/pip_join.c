// Points in polygons, an edge against 64 points side by side; then pairs of point and polygon.
#include "native.h"

enum { W = 64 };

void run(const double *restrict points, const int *restrict polygon_offsets, const int *restrict ring_offsets,
         const double *restrict vertices, uint *restrict result, ull *restrict pairs, int *restrict count, int n,
         int polygons) {
    int found = *count;
    for (int first = 0; first < n; first += W) {
        int m = MIN(W, n - first);
        double x[W] = {0}, y[W] = {0};
        long mask[W] = {0};
        for (int i = 0; i < m; i++) {
            x[i] = points[2 * (first + i)];
            y[i] = points[2 * (first + i) + 1];
        }
        for (int k = 0; k < polygons; k++)
            for (int r = polygon_offsets[k]; r < polygon_offsets[k + 1]; r++) {
                int last = ring_offsets[r + 1] - 1;
                double bx = vertices[2 * last], by = vertices[2 * last + 1];
                for (int v = ring_offsets[r]; v <= last; v++) {
                    double ax = vertices[2 * v], ay = vertices[2 * v + 1], rx = bx - ax, ry = by - ay;
                    long down = ry < 0;
#pragma omp simd
                    for (int i = 0; i < W; i++) {
                        long left = rx * (y[i] - ay) < (x[i] - ax) * ry;
                        long crosses = (ay > y[i]) ^ (by > y[i]);
                        mask[i] ^= (crosses & (left ^ down)) << k;
                    }
                    bx = ax;
                    by = ay;
                }
            }
        for (int i = 0; i < m; i++) {
            result[first + i] = mask[i];
            for (uint bits = mask[i]; bits; bits &= bits - 1)
                pairs[found++] = (ull)(first + i) << 8 | __builtin_ctz(bits);
        }
    }
    *count = found;
}
