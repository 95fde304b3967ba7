// A volume as light sees it, 16 rays side by side.
#include "native.h"

enum { W = 16 };

typedef struct {
    int lower, upper;
    float t;
} Between;

static inline Between axis(float at, int n) {
    float x = at * n - 0.5f;
    x = x > 0 ? x : 0;
    x = x < n - 1 ? x : n - 1;
    int i = (int)x;
    return (Between){i, i + 1 < n ? i + 1 : n - 1, x - i};
}

static inline float lerp(float a, float b, float t) {
    return a + t * (b - a);
}

static inline int byte(float x) {
    x = x > 0 ? x : 0;
    return (int)((x < 1 ? x : 1) * 255);
}

void run(uchar *restrict output, const uchar *restrict volume, const float *restrict table, const int *extent,
         const float *view, const float *look, int entries, int w, int h, int max_steps, float tstep) {
    int nx = extent[0], ny = extent[1], nz = extent[2];
    float density = look[0], brightness = look[1], offset = look[2], scale = look[3];
    for (int y = 0; y < h; y++)
        for (int first = 0; first < w; first += W) {
            float far[W], t[W], px[W], py[W], pz[W], dx[W], dy[W], dz[W], r[W], g[W], b[W], a[W];
            int goes[W], left = 0;
#pragma omp simd reduction(+ : left)
            for (int i = 0; i < W; i++) {
                float u = (first + i) / (float)w * 2 - 1, v = y / (float)h * 2 - 1;
                float unit = 1 / sqrtf(u * u + v * v + 4), ex = u * unit, ey = v * unit, ez = -2 * unit;
                float x = ex * view[0] + ey * view[1] + ez * view[2], ox = view[3];
                float yy = ex * view[4] + ey * view[5] + ez * view[6], oy = view[7];
                float z = ex * view[8] + ey * view[9] + ez * view[10], oz = view[11];
                float x0 = (-1 - ox) / x, x1 = (1 - ox) / x, y0 = (-1 - oy) / yy, y1 = (1 - oy) / yy;
                float z0 = (-1 - oz) / z, z1 = (1 - oz) / z;
                float nearest = MAX(MAX(MIN(x0, x1), MIN(y0, y1)), MIN(z0, z1));
                far[i] = MIN(MIN(MAX(x0, x1), MAX(y0, y1)), MAX(z0, z1));
                goes[i] = far[i] > nearest;
                goes[i] = first + i < w ? goes[i] : 0;
                left += goes[i];
                t[i] = nearest > 0 ? nearest : 0;
                px[i] = ox + x * t[i];
                py[i] = oy + yy * t[i];
                pz[i] = oz + z * t[i];
                dx[i] = x * tstep;
                dy[i] = yy * tstep;
                dz[i] = z * tstep;
                r[i] = g[i] = b[i] = a[i] = 0;
            }
            for (int s = 0; s < max_steps && left; s++) {
                left = 0;
#pragma omp simd reduction(+ : left)
                for (int i = 0; i < W; i++) {
                    Between x = axis(px[i] * 0.5f + 0.5f, nx), yy = axis(py[i] * 0.5f + 0.5f, ny);
                    Between z = axis(pz[i] * 0.5f + 0.5f, nz);
                    int p = (z.lower * ny + yy.lower) * nx, q = (z.lower * ny + yy.upper) * nx;
                    int o = (z.upper * ny + yy.lower) * nx, e = (z.upper * ny + yy.upper) * nx;
                    float front = lerp(lerp(volume[p + x.lower], volume[p + x.upper], x.t),
                                       lerp(volume[q + x.lower], volume[q + x.upper], x.t), yy.t);
                    float back = lerp(lerp(volume[o + x.lower], volume[o + x.upper], x.t),
                                      lerp(volume[e + x.lower], volume[e + x.upper], x.t), yy.t);
                    float sample = lerp(front, back, z.t) * (1 / 255.0f);
                    Between k = axis((sample - offset) * scale, entries);
                    const float *from = table + 4 * k.lower, *to = table + 4 * k.upper;
                    float alpha = lerp(from[3], to[3], k.t) * density;
                    float seen = goes[i] ? alpha * (1 - a[i]) : 0;
                    r[i] += lerp(from[0], to[0], k.t) * seen;
                    g[i] += lerp(from[1], to[1], k.t) * seen;
                    b[i] += lerp(from[2], to[2], k.t) * seen;
                    a[i] += seen;
                    t[i] += tstep;
                    goes[i] = goes[i] & (a[i] <= 0.95f) & (t[i] <= far[i]);
                    left += goes[i];
                    px[i] += dx[i];
                    py[i] += dy[i];
                    pz[i] += dz[i];
                }
            }
            for (int i = 0; i < MIN(W, w - first); i++) {
                uchar *out = output + 4 * (y * w + first + i);
                out[0] = byte(r[i] * brightness);
                out[1] = byte(g[i] * brightness);
                out[2] = byte(b[i] * brightness);
                out[3] = byte(a[i] * brightness);
            }
        }
}
