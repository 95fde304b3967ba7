#include "native.h"

static inline float fade(float t) {
    return t * t * t * (t * (t * 6 - 15) + 10);
}

static inline float grad(int h, float x, float y) {
    return ((h & 1) ? -x : x) + ((h & 2) ? -y : y);
}

void run(const int *restrict p, float *restrict o, int w, int h, float f) {
    for (int iy = 0; iy < h; iy++)
#pragma omp simd
        for (int ix = 0; ix < w; ix++) {
            float s = 0, amp = 1, fr = f;
            for (int k = 0; k < 4; k++) {
                float x = ix * fr, y = iy * fr;
                float fx = floorf(x), fy = floorf(y);
                int X = (int)fx, Y = (int)fy;
                x -= fx;
                y -= fy;
                X &= 255;
                Y &= 255;
                float u = fade(x), v = fade(y);
                int A = p[X] + Y, B = p[X + 1] + Y;
                float a = grad(p[A], x, y), b = grad(p[B], x - 1, y), c = grad(p[A + 1], x, y - 1),
                      d = grad(p[B + 1], x - 1, y - 1);
                float l = a + u * (b - a), m = c + u * (d - c);
                s += amp * (l + v * (m - l));
                amp *= 0.5f;
                fr *= 2;
            }
            o[iy * w + ix] = s;
        }
}
