// Trilinear enlargement and its gradient; the places and weights along x are worked out once.
#include "native.h"

static inline float source(float scale, int i, int align) {
    float s = align ? scale * i : scale * (i + 0.5f) - 0.5f;
    return s < 0 ? 0 : s;
}

void run(const float *restrict input, const float *restrict grad_output, float *restrict output,
         float *restrict grad_input, int planes, int it, int ih, int iw, int ot, int oh, int ow, float rt, float rh,
         float rw, int align) {
    int *left = malloc(ow * sizeof(int)), *right = malloc(ow * sizeof(int));
    float *weight = malloc(ow * sizeof(float));
    for (int x = 0; x < ow; x++) {
        float s = source(rw, x, align);
        left[x] = s;
        right[x] = left[x] + (left[x] < iw - 1);
        weight[x] = s - left[x];
    }
    for (int p = 0; p < planes; p++)
        for (int t = 0; t < ot; t++) {
            float st = source(rt, t, align);
            int t0 = st, t1 = t0 + (t0 < it - 1);
            float bt = st - t0, at = 1 - bt;
            for (int y = 0; y < oh; y++) {
                float sy = source(rh, y, align);
                int y0 = sy, y1 = y0 + (y0 < ih - 1);
                float by = sy - y0, ay = 1 - by;
                long base = (long)p * it * ih * iw, o = (((long)p * ot + t) * oh + y) * ow;
                long r00 = base + (t0 * ih + y0) * iw, r01 = base + (t0 * ih + y1) * iw;
                long r10 = base + (t1 * ih + y0) * iw, r11 = base + (t1 * ih + y1) * iw;
                const float *a = input + r00, *b = input + r01, *c = input + r10, *d = input + r11;
                for (int x = 0; x < ow; x++) {
                    int l = left[x], r = right[x];
                    float bx = weight[x], ax = 1 - bx;
                    output[o + x] = at * (ay * (ax * a[l] + bx * a[r]) + by * (ax * b[l] + bx * b[r])) +
                                    bt * (ay * (ax * c[l] + bx * c[r]) + by * (ax * d[l] + bx * d[r]));
                }
                float *ga = grad_input + r00, *gb = grad_input + r01, *gc = grad_input + r10, *gd = grad_input + r11;
                for (int x = 0; x < ow; x++) {
                    int l = left[x], r = right[x];
                    float g = grad_output[o + x], gr = weight[x] * g, gl = (1 - weight[x]) * g;
                    ga[l] += at * ay * gl;
                    ga[r] += at * ay * gr;
                    gb[l] += at * by * gl;
                    gb[r] += at * by * gr;
                    gc[l] += bt * ay * gl;
                    gc[r] += bt * ay * gr;
                    gd[l] += bt * by * gl;
                    gd[r] += bt * by * gr;
                }
            }
        }
    free(left);
    free(right);
    free(weight);
}
