// Complex transforms of 512 points by three steps of eight; 64 butterflies side by side, real and imaginary parts apart.
#include "native.h"

enum { N = 512, T = 64 };

static void step(float *restrict re, float *restrict im, const float *restrict wr, const float *restrict wi,
                 float *restrict to_re, float *restrict to_im, int stride) {
    const float h = 0.70710678118654752440f;
    float yr[8][T], yi[8][T];
#pragma omp simd
    for (int t = 0; t < T; t++) {
        float xr[8], xi[8], ar[8], ai[8];
        for (int r = 0; r < 8; r++) {
            float a = re[t + T * r], b = im[t + T * r], c = wr[r * T + t], d = wi[r * T + t];
            xr[r] = a * c - b * d;
            xi[r] = a * d + b * c;
        }
        for (int i = 0; i < 4; i++) {
            ar[i] = xr[i] + xr[i + 4];
            ai[i] = xi[i] + xi[i + 4];
            ar[i + 4] = xr[i] - xr[i + 4];
            ai[i + 4] = xi[i] - xi[i + 4];
        }
        float u = ar[5], v = ai[5];
        ar[5] = h * (u + v);
        ai[5] = h * (v - u);
        u = ar[6];
        ar[6] = ai[6];
        ai[6] = -u;
        u = ar[7], v = ai[7];
        ar[7] = h * (v - u);
        ai[7] = -h * (u + v);
        for (int k = 0; k < 2; k++) {
            float *pr = ar + 4 * k, *pi = ai + 4 * k;
            float s0r = pr[0] + pr[2], s0i = pi[0] + pi[2], d0r = pr[0] - pr[2], d0i = pi[0] - pi[2];
            float s1r = pr[1] + pr[3], s1i = pi[1] + pi[3], d1r = pr[1] - pr[3], d1i = pi[1] - pi[3];
            yr[k][t] = s0r + s1r;
            yi[k][t] = s0i + s1i;
            yr[k + 4][t] = s0r - s1r;
            yi[k + 4][t] = s0i - s1i;
            yr[k + 2][t] = d0r + d1i;
            yi[k + 2][t] = d0i - d1r;
            yr[k + 6][t] = d0r - d1i;
            yi[k + 6][t] = d0i + d1r;
        }
    }
    for (int t = 0; t < T; t++)
        for (int r = 0; r < 8; r++) {
            int at = t / stride * stride * 8 + t % stride + r * stride;
            to_re[at] = yr[r][t];
            to_im[at] = yi[r][t];
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
