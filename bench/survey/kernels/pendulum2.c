// Double pendulums by Runge-Kutta, eight at a time; those that went over the top stand still.
#include "native.h"
enum { LANES = 8 };

#if defined(__x86_64__) && defined(__GLIBC__)
// By other names, or gcc makes calls of sincos, of which it has no vectors.
__attribute__((simd("notinbranch"), const)) extern double sine(double) __asm__("sin");
__attribute__((simd("notinbranch"), const)) extern double cosine(double) __asm__("cos");
#else
#define sine sin
#define cosine cos
#endif

static inline __attribute__((always_inline)) void derivative(double th1, double th2, double w1, double w2, double *a1,
                                                             double *a2) {
    const double g = 9.81;
    double d = th1 - th2, sd = sine(d), cd = cosine(d), below = 3 - cosine(2 * d);
    *a1 = (-3 * g * sine(th1) - g * sine(th1 - 2 * th2) - 2 * sd * (w2 * w2 + w1 * w1 * cd)) / below;
    *a2 = 2 * sd * (2 * (w1 * w1) + 2 * g * cosine(th1) + w2 * w2 * cd) / below;
}

void run(double *restrict last, int *restrict flipped, int w, int h, int steps, double dt) {
    const double pi = 3.14159265358979;
    int n = w * h;
    for (int first = 0; first < n; first += LANES) {
        double p1[LANES], p2[LANES], v1[LANES], v2[LANES];
        long end[LANES], over[LANES];
        for (int l = 0; l < LANES; l++) {
            int i = MIN(first + l, n - 1);
            p1[l] = -pi + 2 * pi * (i % w + 0.5) / w, p2[l] = -pi + 2 * pi * (i / w + 0.5) / h;
            v1[l] = v2[l] = 0;
            end[l] = steps, over[l] = 0;
        }
        for (int step = 0; step < steps; step++) {
            double s1[LANES], s2[LANES], n1[LANES], n2[LANES], half = dt / 2;
#pragma omp simd
            for (int l = 0; l < LANES; l++) {
                double q1 = p1[l], q2 = p2[l], w1 = v1[l], w2 = v2[l], a1, a2, b1, b2, c1, c2, d1, d2;
                derivative(q1, q2, w1, w2, &a1, &a2);
                double wb1 = w1 + a1 * half, wb2 = w2 + a2 * half;
                derivative(q1 + w1 * half, q2 + w2 * half, wb1, wb2, &b1, &b2);
                double wc1 = w1 + b1 * half, wc2 = w2 + b2 * half;
                derivative(q1 + wb1 * half, q2 + wb2 * half, wc1, wc2, &c1, &c2);
                double wd1 = w1 + c1 * dt, wd2 = w2 + c2 * dt;
                derivative(q1 + wc1 * dt, q2 + wc2 * dt, wd1, wd2, &d1, &d2);
                s1[l] = q1 + w1 * (dt / 6) + wb1 * (dt / 3) + wc1 * (dt / 3) + wd1 * (dt / 6);
                s2[l] = q2 + w2 * (dt / 6) + wb2 * (dt / 3) + wc2 * (dt / 3) + wd2 * (dt / 6);
                n1[l] = w1 + a1 * (dt / 6) + b1 * (dt / 3) + c1 * (dt / 3) + d1 * (dt / 6);
                n2[l] = w2 + a2 * (dt / 6) + b2 * (dt / 3) + c2 * (dt / 3) + d2 * (dt / 6);
            }
            long left = 0;
            for (int l = 0; l < LANES; l++) {
                long was = over[l], is = fabs(s2[l]) > pi;
                p1[l] = was ? p1[l] : s1[l], p2[l] = was ? p2[l] : s2[l];
                v1[l] = was ? v1[l] : n1[l], v2[l] = was ? v2[l] : n2[l];
                end[l] = is > was ? step : end[l];
                over[l] = was | is;
                left += !over[l];
            }
            if (left == 0)
                break;
        }
        for (int l = 0; l < LANES && first + l < n; l++) {
            double s[4] = {p1[l], p2[l], v1[l], v2[l]};
            memcpy(last + 4L * (first + l), s, sizeof s);
            flipped[first + l] = end[l];
        }
    }
}
