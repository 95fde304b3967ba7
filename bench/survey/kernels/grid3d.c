// Sampling volumes at points: trilinear with the border's values outside, trilinear with reflections, nearest with
// zeros.
#include "native.h"

static inline float place(float v, int size, int align) {
    return align ? (v + 1) / 2 * (size - 1) : ((v + 1) * size - 1) / 2;
}

static inline float clip(float v, int size) {
    return MIN(size - 1, MAX(v, 0));
}

// About -1/2 and size - 1/2.
static inline float reflect(float v, int size) {
    v = fabsf(v + 0.5f);
    int flips = v / size;
    float extra = v - flips * (float)size;
    return clip((flips & 1 ? size - extra : extra) - 0.5f, size);
}

// A source inside of the volume.
static inline void linear(const float *in, float *out, float x, float y, float z, int c, int d, int h, int w,
                          size_t step) {
    int x0 = x, y0 = y, z0 = z, xs = x0 + 1 < w, ys = y0 + 1 < h ? w : 0;
    size_t zs = z0 + 1 < d ? (size_t)w * h : 0;
    float fx = x - x0, fy = y - y0, fz = z - z0;
    const float *p = in + ((size_t)z0 * h + y0) * w + x0;
    for (int k = 0; k < c; k++, p += (size_t)d * h * w, out += step) {
        float a = p[0] + fx * (p[xs] - p[0]), b = p[ys] + fx * (p[ys + xs] - p[ys]);
        const float *q = p + zs;
        float e = q[0] + fx * (q[xs] - q[0]), f = q[ys] + fx * (q[ys + xs] - q[ys]);
        float g = a + fy * (b - a);
        *out = g + fz * (e + fy * (f - e) - g);
    }
}

void run(const float *restrict input, const float *restrict grid, float *restrict border, float *restrict mirrored,
         float *restrict nearest, int n, int c, int d, int h, int w, int points) {
    for (int i = 0; i < n; i++) {
        const float *in = input + (size_t)i * c * d * h * w;
        for (int p = 0; p < points; p++) {
            const float *g = grid + ((size_t)i * points + p) * 3;
            size_t at = (size_t)i * c * points + p;
            linear(in, border + at, clip(place(g[0], w, 1), w), clip(place(g[1], h, 1), h),
                   clip(place(g[2], d, 1), d), c, d, h, w, points);
            float x = place(g[0], w, 0), y = place(g[1], h, 0), z = place(g[2], d, 0);
            linear(in, mirrored + at, reflect(x, w), reflect(y, h), reflect(z, d), c, d, h, w, points);
            int xx = nearbyintf(x), yy = nearbyintf(y), zz = nearbyintf(z);
            int inside = xx >= 0 && xx < w && yy >= 0 && yy < h && zz >= 0 && zz < d;
            const float *q = in + ((long)zz * h + yy) * w + xx;
            for (int k = 0; k < c; k++, at += points)
                nearest[at] = inside ? q[(size_t)k * d * h * w] : 0;
        }
    }
}
