#include "native.h"

// Fast sweeping in eight directions: times of first arrival.
#define INF 1e30

void run(double *restrict time, const float *restrict slowness, int nx, int ny, int nz, double h) {
    int stride = nx * ny;
    for (int sweep = 0; sweep < 8; sweep++) {
        int dx = sweep & 1 ? -1 : 1, dy = sweep & 2 ? -1 : 1, dz = sweep & 4 ? -1 : 1;
        for (int k = 0; k < nz; k++)
            for (int j = 0; j < ny; j++) {
                int z = dz > 0 ? k : nz - 1 - k, y = dy > 0 ? j : ny - 1 - j;
                double *row = time + z * stride + y * nx;
                const float *slow = slowness + z * stride + y * nx;
                for (int i = 0; i < nx; i++) {
                    int x = dx > 0 ? i : nx - 1 - i;
                    double left = x > 0 ? row[x - 1] : INF, right = x < nx - 1 ? row[x + 1] : INF;
                    double front = y > 0 ? row[x - nx] : INF, back = y < ny - 1 ? row[x + nx] : INF;
                    double below = z > 0 ? row[x - stride] : INF, above = z < nz - 1 ? row[x + stride] : INF;
                    double u = MIN(left, right), v = MIN(front, back), w = MIN(below, above), fh = slow[x] * h;
                    double low = MIN(u, v), high = MAX(u, v);
                    double a = MIN(low, w), c = MAX(high, w), b = MAX(low, MIN(high, w));
                    double t = a + fh;
                    if (t > b) {
                        t = 0.5 * (a + b + sqrt(2 * fh * fh - (a - b) * (a - b)));
                        if (t > c) {
                            double sum = a + b + c, left_over = sum * sum - 3 * (a * a + b * b + c * c - fh * fh);
                            t = (sum + sqrt(MAX(left_over, 0))) / 3;
                        }
                    }
                    if (t < row[x])
                        row[x] = t;
                }
            }
    }
}
