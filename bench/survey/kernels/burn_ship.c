// The burning ship in double precision with smooth colours: 32 points of a row go together, four steps between
// questions, until all are out.
#include "native.h"

#if defined(__x86_64__) && defined(__GLIBC__)
__attribute__((simd("notinbranch"))) extern float cosf(float);
__attribute__((simd("notinbranch"))) extern float logf(float);
#endif

enum { W = 8, SETS = 4 };

typedef double lanes __attribute__((vector_size(8 * W)));
typedef long flags __attribute__((vector_size(8 * W)));

static inline uchar level(float t) {
    return (int)(255 * (0.5f + 0.5f * cosf(6.2831853f * t)) + 0.5f);
}

static void paint(const float *restrict sizes, const int *restrict n, uchar *restrict to, int width, int limit) {
#pragma omp simd
    for (int x = 0; x < width; x++) {
        float t = 0.02f * (n[x] + 1 - logf(0.5f * logf(sizes[x]) / 0.6931472f) * 1.44269504f);
        int shown = n[x] < limit ? 255 : 0;
        to[4 * x] = level(t) & shown;
        to[4 * x + 1] = level(0.7f * t + 0.15f) & shown;
        to[4 * x + 2] = level(0.4f * t + 0.2f) & shown;
        to[4 * x + 3] = 255;
    }
}

void run(uchar *restrict image, int *restrict iterations, int width, int height, int limit, double x0, double y0,
         double dx, double dy) {
    float *sizes = malloc(width * sizeof *sizes);
    for (int py = 0; py < height; py++) {
        for (int first = 0; first < width; first += W * SETS) {
            lanes x[SETS], y[SETS], cx[SETS], zero = {0};
            double cy = y0 + py * dy;
            flags n[SETS], on[SETS];
            for (int s = 0; s < SETS; s++) {
                x[s] = y[s] = zero;
                n[s] = (flags){0};
                on[s] = n[s] - 1;
                for (int l = 0; l < W; l++)
                    cx[s][l] = x0 + (first + s * W + l) * dx;
            }
            for (int k = 0; k + 4 <= limit; k += 4) {
                flags more = {0};
#pragma GCC unroll 4
                for (int s = 0; s < SETS; s++) {
                    lanes u = x[s], v = y[s];
#pragma GCC unroll 4
                    for (int i = 0; i < 4; i++) {
                        lanes xx = u * u, yy = v * v, uv = u * v;
                        uv = (lanes)((flags)uv & INT64_MAX);
                        v = 2 * uv + cy;
                        u = xx - yy + cx[s];
                    }
                    on[s] &= u * u + v * v <= 256;
                    x[s] = (lanes)((on[s] & (flags)u) | (~on[s] & (flags)x[s]));
                    y[s] = (lanes)((on[s] & (flags)v) | (~on[s] & (flags)y[s]));
                    n[s] += on[s] & 4;
                    more |= on[s];
                }
                long any = 0;
                for (int l = 0; l < W; l++)
                    any |= more[l];
                if (!any)
                    break;
            }
            for (int s = 0; s < SETS; s++)
                for (int l = 0; l < MIN(W, width - first - s * W); l++) {
                    double u = x[s][l], v = y[s][l];
                    int count = n[s][l];
                    for (; count < limit && u * u + v * v <= 256; count++) {
                        double xx = u * u, yy = v * v;
                        v = 2 * fabs(u * v) + cy;
                        u = xx - yy + cx[s][l];
                    }
                    sizes[first + s * W + l] = count < limit ? u * u + v * v : 300;
                    iterations[(long)py * width + first + s * W + l] = count;
                }
        }
        paint(sizes, iterations + (long)py * width, image + 4L * py * width, width, limit);
    }
    free(sizes);
}
