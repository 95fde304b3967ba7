// The burning ship in double precision with smooth colours: sixteen points of a row go together until all are out.
#include "native.h"

enum { W = 16 };

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
            for (int k = 0; k < limit; k++) {
                long more = 0;
#pragma omp simd reduction(+ : more)
                for (int l = 0; l < W; l++) {
                    double xx = x[l] * x[l], yy = y[l] * y[l], ny = 2 * fabs(x[l] * y[l]) + cy, nx = xx - yy + cx[l];
                    long in = xx + yy <= 256;
                    x[l] = in ? nx : x[l];
                    y[l] = in ? ny : y[l];
                    n[l] += in;
                    more += in;
                }
                if (more == 0)
                    break;
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
