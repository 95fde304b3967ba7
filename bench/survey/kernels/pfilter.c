// A particle filter: particle by particle, and one walk along the running sums for all of the resampling.
#include "native.h"

static const double PI = 3.1415926535897932;

static inline double uniform(int *seed) {
    long next = (1103515245L * *seed + 12345) % 2147483647;
    *seed = next;
    return fabs(next / 2147483647.0);
}

static inline double normal(int *seed) {
    double u = uniform(seed), v = uniform(seed);
    return sqrt(-2 * log(u)) * cos(2 * PI * v);
}

void run(double *restrict x, double *restrict y, double *restrict x_new, double *restrict y_new,
         double *restrict weights, double *restrict cdf, double *restrict centre, const uchar *restrict film,
         const int *restrict disc, int *restrict seed, int particles, int w, int h, int points, int frames) {
    int reach = 0;
    long *offsets = malloc(points * sizeof(long));
    for (int k = 0; k < points; k++) {
        offsets[k] = (long)disc[2 * k + 1] * w + disc[2 * k];
        reach = MAX(reach, MAX(abs(disc[2 * k]), abs(disc[2 * k + 1])));
    }
    for (int t = 0; t < frames; t++, film += (long)w * h) {
        double *restrict fx = t % 2 ? x_new : x, *restrict fy = t % 2 ? y_new : y;
        double *restrict tx = t % 2 ? x : x_new, *restrict ty = t % 2 ? y : y_new;
        double total = 0;
        for (int i = 0; i < particles; i++) {
            fx[i] += 1 + 5 * normal(seed + i);
            fy[i] += -2 + 2 * normal(seed + i);
            int cx = round(fx[i]), cy = round(fy[i]);
            // a difference of squares of whole numbers: exact in ints, too
            int likelihood = 0;
            if (cx >= reach && cx < w - reach && cy >= reach && cy < h - reach) {
                const uchar *at = film + (long)cy * w + cx;
                for (int k = 0; k < points; k++) {
                    int value = at[offsets[k]];
                    likelihood += (value - 100) * (value - 100) - (value - 228) * (value - 228);
                }
            } else
                for (int k = 0; k < points; k++) {
                    int col = cx + disc[2 * k], row = cy + disc[2 * k + 1];
                    if (col < 0 || col >= w || row < 0 || row >= h)
                        continue;
                    int value = film[(long)row * w + col];
                    likelihood += (value - 100) * (value - 100) - (value - 228) * (value - 228);
                }
            weights[i] *= exp(likelihood / 50.0 / (points * 40.0));
            total += weights[i];
        }
        double offset = uniform(seed) / particles, sum = 0, sx = 0, sy = 0;
        for (int i = 0; i < particles; i++) {
            double weight = weights[i] / total;
            sx += weight * fx[i];
            sy += weight * fy[i];
            cdf[i] = sum += weight;
        }
        centre[2 * t] = sx;
        centre[2 * t + 1] = sy;
        for (int i = 0, j = 0; i < particles; i++) {
            double u = offset + i / (double)particles;
            while (j < particles - 1 && cdf[j] < u)
                j++;
            tx[i] = fx[j];
            ty[i] = fy[j];
            weights[i] = 1.0 / particles;
        }
    }
    free(offsets);
}
