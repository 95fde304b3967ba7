// The burning ship in double precision with smooth colours: 32 points of a row go together, four steps between
// questions, until all are out.
#include "native.h"

enum { W = 32 };

typedef struct {
    uchar x, y, z, w;
} uchar4;

static uchar level(float t) {
    return (uchar)(255 * (0.5f + 0.5f * cosf(6.2831853f * t)) + 0.5f);
}

void run(uchar4 *restrict image, int *restrict iterations, int width, int height, int limit, double x0, double y0,
         double dx, double dy) {
    for (int py = 0; py < height; py++)
        for (int first = 0; first < width; first += W) {
            double x[W] = {0}, y[W] = {0}, cx[W], cy = y0 + py * dy;
            long n[W] = {0};
            for (int l = 0; l < W; l++)
                cx[l] = x0 + (first + l) * dx;
            long on[W];
            for (int l = 0; l < W; l++)
                on[l] = -1;
            for (int k = 0; k + 4 <= limit; k += 4) {
                long more = 0;
#pragma omp simd reduction(| : more)
                for (int l = 0; l < W; l++) {
                    double u = x[l], v = y[l];
#pragma GCC unroll 4
                    for (int i = 0; i < 4; i++) {
                        double xx = u * u, yy = v * v;
                        v = 2 * fabs(u * v) + cy;
                        u = xx - yy + cx[l];
                    }
                    long in = u * u + v * v <= 256 ? on[l] : 0;
                    x[l] = in ? u : x[l];
                    y[l] = in ? v : y[l];
                    n[l] += in & 4;
                    on[l] = in;
                    more |= in;
                }
                if (!more)
                    break;
            }
            for (int k = 0; k < 4; k++)  // a point that is out leaves within four
#pragma omp simd
                for (int l = 0; l < W; l++) {
                    double xx = x[l] * x[l], yy = y[l] * y[l], v = 2 * fabs(x[l] * y[l]) + cy, u = xx - yy + cx[l];
                    long in = xx + yy <= 256 && n[l] < limit;
                    x[l] = in ? u : x[l];
                    y[l] = in ? v : y[l];
                    n[l] += in;
                }
            for (int l = 0; l < MIN(W, width - first); l++) {
                uchar4 colour = {0, 0, 0, 255};
                if (n[l] < limit) {
                    float size = x[l] * x[l] + y[l] * y[l];
                    float t = 0.02f * (n[l] + 1 - log2f(0.5f * logf(size) / 0.6931472f));
                    colour = (uchar4){level(t), level(0.7f * t + 0.15f), level(0.4f * t + 0.2f), 255};
                }
                image[(long)py * width + first + l] = colour;
                iterations[(long)py * width + first + l] = n[l];
            }
        }
}
