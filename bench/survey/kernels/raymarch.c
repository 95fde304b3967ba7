#include "native.h"

static inline float box(float px, float py, float pz, float x, float y, float z) {
    float a = fabsf(px) - x, b = fabsf(py) - y, c = fabsf(pz) - z;
    float u = MAX(a, 0), v = MAX(b, 0), w = MAX(c, 0), inner = MAX(a, MAX(b, c));
    return sqrtf(u * u + v * v + w * w) + MIN(inner, 0);
}

static inline float scene(float x, float y, float z, float c, float s) {
    float ball = sqrtf(x * x + (y - 0.4f) * (y - 0.4f) + z * z) - 0.6f;
    float cube = box(c * x + s * z, y, c * z - s * x, 0.9f, 0.25f, 0.4f);
    float q = sqrtf((x - 1.5f) * (x - 1.5f) + (z + 0.3f) * (z + 0.3f)) - 0.6f;
    float ring = sqrtf(q * q + (y - 0.1f) * (y - 0.1f)) - 0.2f, floor = y + 0.5f;
    float h = (0.3f - fabsf(ball - cube)) / 0.3f;
    h = MAX(h, 0);
    float both = MIN(ball, cube) - h * h * 0.3f * 0.25f, other = MIN(floor, ring);
    return MIN(both, other);
}

void run(uchar *restrict image, int w, int h, float time, int steps) {
    float c = cosf(time), s = sinf(time), ox = 0.3f, oy = 1.2f, oz = -4;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float dx = (x + 0.5f - 0.5f * w) / h, dy = (0.5f * h - y - 0.5f) / h - 0.2f, dz = 1.3f;
            float inv = 1 / sqrtf(dx * dx + dy * dy + dz * dz), t = 0, px = ox, py = oy, pz = oz;
            int hit = 0;
            dx *= inv, dy *= inv, dz *= inv;
            for (int i = 0; i < steps; i++) {
                px = ox + t * dx, py = oy + t * dy, pz = oz + t * dz;
                float d = scene(px, py, pz, c, s);
                if (d < 0.001f) {
                    hit = 1;
                    break;
                }
                t += d;
                if (t > 20)
                    break;
            }
            float r = 0.4f + 0.3f * dy, g = 0.6f + 0.2f * dy, b = 0.9f;
            if (hit) {
                float e = 0.01f;
                float nx = scene(px + e, py, pz, c, s) - scene(px - e, py, pz, c, s);
                float ny = scene(px, py + e, pz, c, s) - scene(px, py - e, pz, c, s);
                float nz = scene(px, py, pz + e, c, s) - scene(px, py, pz - e, c, s);
                float len = 1 / sqrtf(nx * nx + ny * ny + nz * nz);
                float light = (nx * 0.48f + ny * 0.8f - nz * 0.36f) * len, shadow = 1;
                light = MAX(light, 0);
                for (float u = 0.05f; u < 6;) {
                    float d = scene(px + u * 0.48f, py + u * 0.8f, pz - u * 0.36f, c, s);
                    if (d < 0.001f) {
                        shadow = 0;
                        break;
                    }
                    shadow = MIN(shadow, 8 * d / u);
                    u += d;
                }
                float all = 0.15f + 0.85f * light * shadow, fog = t / 20;
                r = 0.9f * all * (1 - fog) + r * fog;
                g = 0.7f * all * (1 - fog) + g * fog;
                b = 0.5f * all * (1 - fog) + b * fog;
            }
            uchar *o = image + 4 * (y * w + x);
            o[0] = (uchar)(255 * MIN(r, 1)), o[1] = (uchar)(255 * MIN(g, 1)), o[2] = (uchar)(255 * MIN(b, 1)), o[3] = 255;
        }
}
