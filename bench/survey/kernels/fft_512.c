// Complex transforms of 512 points by three steps of eight; 64 butterflies side by side, real and imaginary parts apart.
#include "native.h"

enum { N = 512, T = 64 };

typedef float lanes __attribute__((vector_size(64)));

// Sixteen butterflies at once; `stride` is known at each call.
static inline __attribute__((always_inline)) void step(const float *restrict re, const float *restrict im,
                                                       const float *restrict wr, const float *restrict wi,
                                                       float *restrict to_re, float *restrict to_im, int stride) {
    const float h = 0.70710678118654752440f;
    float yr[8][T], yi[8][T];
    for (int t = 0; t < T; t += 16) {
        lanes ar[8], ai[8], xr[8], xi[8];
#pragma GCC unroll 8
        for (int r = 0; r < 8; r++) {
            lanes a, b, c, d;
            memcpy(&a, re + t + T * r, sizeof a);
            memcpy(&b, im + t + T * r, sizeof b);
            memcpy(&c, wr + t + T * r, sizeof c);
            memcpy(&d, wi + t + T * r, sizeof d);
            xr[r] = a * c - b * d;
            xi[r] = a * d + b * c;
        }
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
            ar[i] = xr[i] + xr[i + 4];
            ai[i] = xi[i] + xi[i + 4];
            ar[i + 4] = xr[i] - xr[i + 4];
            ai[i + 4] = xi[i] - xi[i + 4];
        }
        lanes u = ar[5], v = ai[5];
        ar[5] = h * (u + v);
        ai[5] = h * (v - u);
        u = ar[6];
        ar[6] = ai[6];
        ai[6] = -u;
        u = ar[7], v = ai[7];
        ar[7] = h * (v - u);
        ai[7] = -h * (u + v);
#pragma GCC unroll 2
        for (int k = 0; k < 2; k++) {
            lanes *pr = ar + 4 * k, *pi = ai + 4 * k;
            lanes s0r = pr[0] + pr[2], s0i = pi[0] + pi[2], d0r = pr[0] - pr[2], d0i = pi[0] - pi[2];
            lanes s1r = pr[1] + pr[3], s1i = pi[1] + pi[3], d1r = pr[1] - pr[3], d1i = pi[1] - pi[3];
            xr[k] = s0r + s1r;
            xi[k] = s0i + s1i;
            xr[k + 4] = s0r - s1r;
            xi[k + 4] = s0i - s1i;
            xr[k + 2] = d0r + d1i;
            xi[k + 2] = d0i - d1r;
            xr[k + 6] = d0r - d1i;
            xi[k + 6] = d0i + d1r;
        }
#pragma GCC unroll 8
        for (int r = 0; r < 8; r++) {
            memcpy(&yr[r][t], &xr[r], sizeof *xr);
            memcpy(&yi[r][t], &xi[r], sizeof *xi);
        }
    }
    for (int t = 0; t < T; t += stride)
        for (int r = 0; r < 8; r++) {
            memcpy(to_re + 8 * t + r * stride, &yr[r][t], stride * sizeof *yr[r]);
            memcpy(to_im + 8 * t + r * stride, &yi[r][t], stride * sizeof *yi[r]);
        }
}

void run(const float *restrict in, float *restrict out, int batch) {
    static float wr[3][8 * T], wi[3][8 * T];
    float re[N], im[N], other_re[N], other_im[N];
    for (int s = 0, ns = 1; s < 3; s++, ns *= 8)
        for (int r = 0; r < 8; r++)
            for (int t = 0; t < T; t++) {
                double angle = -6.28318530717958647692 * (t % ns) * r / (8 * ns);
                wr[s][r * T + t] = cos(angle);
                wi[s][r * T + t] = sin(angle);
            }
    for (int b = 0; b < batch; b++) {
        const float *from = in + 2L * N * b;
        float *restrict to = out + 2L * N * b;
        for (int i = 0; i < N; i++) {
            re[i] = from[2 * i];
            im[i] = from[2 * i + 1];
        }
        step(re, im, wr[0], wi[0], other_re, other_im, 1);
        step(other_re, other_im, wr[1], wi[1], re, im, 8);
        step(re, im, wr[2], wi[2], other_re, other_im, 64);
        for (int i = 0; i < N; i++) {
            to[2 * i] = other_re[i];
            to[2 * i + 1] = other_im[i];
        }
    }
}
