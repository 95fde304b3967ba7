// An American put by regression on paths, from the last date backwards.
#include "native.h"

__attribute__((simd("notinbranch"))) extern double exp(double);

void run(const float *restrict normals, double *restrict price, double *restrict cash, double *restrict beta,
         int paths, int steps, double s0, double drift, double vol, double strike, double discount) {
    int half = paths / 2;
    for (int t = 0; t < steps; t++) {
        const double *before = price + (size_t)(t - 1) * paths;
        double *now = price + (size_t)t * paths;
        for (int side = 0; side < 2; side++) {
            double sign = side ? -vol : vol;
#pragma omp simd
            for (int p = 0; p < half; p++)
                now[side * half + p] = (t ? before[side * half + p] : s0) * exp(drift + sign * normals[t * half + p]);
        }
    }
    const double *last = price + (size_t)(steps - 1) * paths;
    for (int p = 0; p < paths; p++)
        cash[p] = MAX(strike - last[p], 0);
    for (int t = steps - 2; t >= 0; t--) {
        const double *s = price + (size_t)t * paths;
        double n = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, y0 = 0, y1 = 0, y2 = 0;
#pragma omp simd reduction(+ : n, s1, s2, s3, s4, y0, y1, y2)
        for (int p = 0; p < paths; p++) {
            double x = s[p] / strike, y = cash[p] * discount, in = x < 1 ? 1 : 0;
            double a = in * x, b = a * x, c = b * x;
            n += in;
            s1 += a;
            s2 += b;
            s3 += c;
            s4 += c * x;
            y0 += in * y;
            y1 += a * y;
            y2 += b * y;
        }
        double c00 = s2 * s4 - s3 * s3, c01 = s2 * s3 - s1 * s4, c02 = s1 * s3 - s2 * s2;
        double det = n * c00 + s1 * c01 + s2 * c02;
        if (n < 8 || fabs(det) < 1e-12) {
            beta[0] = 1e30;
            beta[1] = beta[2] = 0;
        } else {
            double c11 = n * s4 - s2 * s2, c12 = s1 * s2 - n * s3, c22 = n * s2 - s1 * s1;
            beta[0] = (c00 * y0 + c01 * y1 + c02 * y2) / det;
            beta[1] = (c01 * y0 + c11 * y1 + c12 * y2) / det;
            beta[2] = (c02 * y0 + c12 * y1 + c22 * y2) / det;
        }
        double b0 = beta[0], b1 = beta[1], b2 = beta[2];
#pragma omp simd
        for (int p = 0; p < paths; p++) {
            double x = s[p] / strike, held = cash[p] * discount, now = strike - s[p];
            cash[p] = now > 0 & now > b0 + x * (b1 + x * b2) ? now : held;
        }
    }
}
