#include "native.h"

// Uniform noise on a picture, from a shuffled generator for each pixel; 64 pixels side by side.
enum { IA = 16807, IM = 2147483647, IQ = 127773, IR = 2836, NTAB = 4, NDIV = 1 + (IM - 1) / NTAB, W = 64 };

static inline int step(int v) {
    int k = v / IQ;
    v = IA * (v - k * IQ) - IR * k;
    return v < 0 ? v + IM : v;
}

static inline float clamp(float v) {
    v = v > 0 ? v : 0;
    return v < 255 ? v : 255;
}

void run(const uchar *restrict input, uchar *restrict output, int n, int factor) {
    for (int first = 0; first < n; first += W) {
        int lanes = MIN(W, n - first);
        float dev[W];
#pragma omp simd
        for (int i = 0; i < lanes; i++) {
            const uchar *p = input + 4 * (first + i);
            int v = (p[0] + p[1] + p[2] + p[3]) * 7919 + first + i + 1, t0, t1, t2, t3;
            for (int j = 0; j < 8; j++)
                v = step(v);
            t3 = v = step(v);
            t2 = v = step(v);
            t1 = v = step(v);
            t0 = v = step(v);
            int iy = t0;
            for (int r = 0; r < 3; r++) {
                v = step(v);
                int j = iy / NDIV;
                iy = j == 0 ? t0 : j == 1 ? t1 : j == 2 ? t2 : t3;
                t0 = j == 0 ? v : t0;
                t1 = j == 1 ? v : t1;
                t2 = j == 2 ? v : t2;
                t3 = j == 3 ? v : t3;
            }
            dev[i] = (1.0f / IM * iy - 0.55f) * factor;
        }
        for (int i = 0; i < lanes; i++) {
            const uchar *p = input + 4 * (first + i);
            uchar *q = output + 4 * (first + i);
            for (int c = 0; c < 3; c++)
                q[c] = (uchar)clamp(p[c] + dev[i]);
            q[3] = p[3];
        }
    }
}
