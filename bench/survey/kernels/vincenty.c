#include "native.h"

// Shortest ways on an ellipsoid: eight pairs side by side until all are settled.
#if defined(__x86_64__) && defined(__GLIBC__)
__attribute__((simd("notinbranch"))) extern double sin(double);
__attribute__((simd("notinbranch"))) extern double tan(double);
__attribute__((simd("notinbranch"))) extern double atan2(double, double);
#endif
#define MAJOR 6378137.0
#define F (1.0 / 298.257223563)
#define MINOR (MAJOR * (1.0 - F))
#define DEGREE 0.017453292519943295
enum { W = 8 };

void run(const double *restrict pairs, double *restrict length, double *restrict azimuth, int n) {
    for (int first = 0; first < n; first += W) {
        int lanes = MIN(W, n - first), open = 1;
        double l[W], lambda[W], c1[W], s1[W], c2[W], s2[W], ss[W], cs[W], sigma[W], cc[W], cm[W], sl[W], cl[W];
        long long going[W], same[W], settled[W];
        double in[4][W];
        for (int w = 0; w < W; w++)
            for (int k = 0; k < 4; k++)
                in[k][w] = pairs[4 * (size_t)(first + MIN(w, lanes - 1)) + k] * DEGREE;
#pragma omp simd
        for (int w = 0; w < W; w++) {
            double t1 = (1 - F) * tan(in[0][w]), t2 = (1 - F) * tan(in[2][w]);
            c1[w] = 1 / sqrt(1 + t1 * t1);
            s1[w] = t1 * c1[w];
            c2[w] = 1 / sqrt(1 + t2 * t2);
            s2[w] = t2 * c2[w];
            lambda[w] = l[w] = in[3][w] - in[1][w];
            going[w] = -1;
            same[w] = 0;
        }
        for (int round = 0; round < 50 && open; round++) {
            long long any = 0;
#pragma omp simd reduction(| : any)
            for (int w = 0; w < W; w++) {
                long long go = going[w];
                double s = sin(lambda[w]), c = sin(lambda[w] + 1.5707963267948966);  // gcc has no vectors for sincos
                double a = c2[w] * s, b = c1[w] * s2[w] - s1[w] * c2[w] * c;
                double sin_sigma = sqrt(a * a + b * b), cos_sigma = s1[w] * s2[w] + c1[w] * c2[w] * c;
                double sig = atan2(sin_sigma, cos_sigma);
                long long here = sin_sigma < 1e-14 ? -1 : 0;
                double sin_alpha = c1[w] * c2[w] * s / (here ? 1 : sin_sigma), cos2 = 1 - sin_alpha * sin_alpha;
                double mid = cos_sigma - 2 * s1[w] * s2[w] / cos2, cos_2m = cos2 > 1e-14 ? mid : 0;
                double k = F / 16 * cos2 * (4 + F * (4 - 3 * cos2));
                double next = l[w] + (1 - k) * F * sin_alpha *
                                         (sig + k * sin_sigma * (cos_2m + k * cos_sigma * (2 * cos_2m * cos_2m - 1)));
                long long more = !here && fabs(next - lambda[w]) > 1e-11 ? -1 : 0;
                same[w] |= go & here;
                ss[w] = go ? sin_sigma : ss[w];
                cs[w] = go ? cos_sigma : cs[w];
                sigma[w] = go ? sig : sigma[w];
                cc[w] = go ? cos2 : cc[w];
                cm[w] = go ? cos_2m : cm[w];
                sl[w] = go ? s : sl[w];
                cl[w] = go ? c : cl[w];
                lambda[w] = go ? next : lambda[w];
                going[w] = go & more;
                any |= going[w];
            }
            open = any != 0;
        }
        double far[W], turn[W];
#pragma omp simd
        for (int w = 0; w < W; w++) {
            double u2 = cc[w] * (MAJOR * MAJOR - MINOR * MINOR) / (MINOR * MINOR), m = cm[w], q = m * m;
            double a = 1 + u2 / 16384 * (4096 + u2 * (-768 + u2 * (320 - 175 * u2)));
            double b = u2 / 1024 * (256 + u2 * (-128 + u2 * (74 - 47 * u2)));
            double delta = b * ss[w] * (m + b / 4 * (cs[w] * (2 * q - 1) -
                                                     b / 6 * m * (4 * ss[w] * ss[w] - 3) * (4 * q - 3)));
            double d = MINOR * a * (sigma[w] - delta);
            double z = atan2(c2[w] * sl[w], c1[w] * s2[w] - s1[w] * c2[w] * cl[w]) / DEGREE;
            far[w] = same[w] ? 0 : going[w] ? -1 : d;
            turn[w] = same[w] ? 0 : z;
        }
        memcpy(length + first, far, lanes * sizeof(double));
        memcpy(azimuth + first, turn, lanes * sizeof(double));
    }
}
