// Triangles in fixed point into a buffer of depth and number, barycentrics, attributes and their gradients.
#include "native.h"

static inline int64_t edge(const int *a, const int *b, int x, int y) {
    return (int64_t)(b[0] - a[0]) * (y - a[1]) - (int64_t)(b[1] - a[1]) * (x - a[0]);
}

void run(const int *restrict pos, const float *restrict depth, const int *restrict tri, const float *restrict attr,
         const float *restrict dy, ull *restrict buffer, float *restrict rast, float *restrict out,
         float *restrict grad_attr, float *restrict grad_rast, int width, int height, int triangles, int numbers) {
    memset(buffer, 0xff, (long)width * height * sizeof(ull));
    for (int t = 0; t < triangles; t++) {
        const int *v = tri + 3 * t, *a = pos + 2 * v[0], *b = pos + 2 * v[1], *c = pos + 2 * v[2];
        int64_t area = edge(a, b, c[0], c[1]);
        if (area <= 0)
            continue;
        int x0 = MAX(MIN(a[0], MIN(b[0], c[0])) / 16, 0), x1 = MIN(MAX(a[0], MAX(b[0], c[0])) / 16, width - 1);
        int y0 = MAX(MIN(a[1], MIN(b[1], c[1])) / 16, 0), y1 = MIN(MAX(a[1], MAX(b[1], c[1])) / 16, height - 1);
        float inv = 1.0f / (float)area, z0 = depth[v[0]], z1 = depth[v[1]], z2 = depth[v[2]];
        for (int y = y0; y <= y1; y++) {
            int64_t e0 = edge(b, c, x0 * 16 + 8, y * 16 + 8), e1 = edge(c, a, x0 * 16 + 8, y * 16 + 8);
            int64_t d0 = -16 * (int64_t)(c[1] - b[1]), d1 = -16 * (int64_t)(a[1] - c[1]);
            for (int x = x0; x <= x1; x++, e0 += d0, e1 += d1) {
                if ((e0 | e1 | (area - e0 - e1)) < 0)
                    continue;
                float w0 = (float)e0 * inv, w1 = (float)e1 * inv, z = w0 * z0 + w1 * z1 + (1 - w0 - w1) * z2;
                if (z < 0 || z > 1)
                    continue;
                uint bits;
                memcpy(&bits, &z, 4);
                ull key = (ull)bits << 32 | t;
                if (key < buffer[y * width + x])
                    buffer[y * width + x] = key;
            }
        }
    }
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            long at = (long)y * width + x;
            float *r = rast + 4 * at, *o = out + at * numbers, *gr = grad_rast + 2 * at;
            if (buffer[at] == ~0ull) {
                memset(r, 0, 16);
                memset(o, 0, numbers * sizeof(float));
                gr[0] = gr[1] = 0;
                continue;
            }
            uint t = buffer[at], bits = buffer[at] >> 32;
            const int *v = tri + 3 * t, *a = pos + 2 * v[0], *b = pos + 2 * v[1], *c = pos + 2 * v[2];
            float inv = 1.0f / (float)edge(a, b, c[0], c[1]);
            float b0 = (float)edge(b, c, x * 16 + 8, y * 16 + 8) * inv;
            float b1 = (float)edge(c, a, x * 16 + 8, y * 16 + 8) * inv, b2 = 1 - b0 - b1, gb0 = 0, gb1 = 0;
            r[0] = b0;
            r[1] = b1;
            memcpy(r + 2, &bits, 4);
            r[3] = t + 1;
            const float *s0 = attr + v[0] * numbers, *s1 = attr + v[1] * numbers, *s2 = attr + v[2] * numbers;
            float *g0 = grad_attr + v[0] * numbers, *g1 = grad_attr + v[1] * numbers, *g2 = grad_attr + v[2] * numbers;
            const float *d = dy + at * numbers;
            for (int i = 0; i < numbers; i++) {
                o[i] = b0 * s0[i] + b1 * s1[i] + b2 * s2[i];
                gb0 += d[i] * (s0[i] - s2[i]);
                gb1 += d[i] * (s1[i] - s2[i]);
                g0[i] += b0 * d[i];
                g1[i] += b1 * d[i];
                g2[i] += b2 * d[i];
            }
            gr[0] = gb0;
            gr[1] = gb1;
        }
}
