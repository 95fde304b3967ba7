#include "native.h"
enum { SEARCH = 8 };

#if defined(__x86_64__) && defined(__GLIBC__)
__attribute__((simd("notinbranch"))) extern float powf(float, float);
#endif

typedef struct {
    float x, y, z, w;
} float4;
typedef struct {
    uchar x, y, z, w;
} uchar4;

static inline float filmic(float x) {
    x = MAX(x, 0);
    float v = x * (2.51f * x + 0.03f) / (x * (2.43f * x + 0.59f) + 0.14f);
    return MIN(v, 1);
}

static inline uchar4 at(const uchar4 *image, int x, int y, int w, int h) {
    return image[MIN(MAX(y, 0), h - 1) * w + MIN(MAX(x, 0), w - 1)];
}

static inline float luma(const uchar4 *image, int x, int y, int w, int h) {
    return at(image, x, y, w, h).w * (1.0f / 255);
}

static uchar4 smoothed(const uchar4 *image, int x, int y, int wide, int high, float n, float s, float w, float e,
                       float range, float subpixel) {
    uchar4 centre = image[y * wide + x];
    float m = centre.w * (1.0f / 255);
    float nw = luma(image, x - 1, y - 1, wide, high), ne = luma(image, x + 1, y - 1, wide, high);
    float sw = luma(image, x - 1, y + 1, wide, high), se = luma(image, x + 1, y + 1, wide, high);
    float average = (2 * (n + s + w + e) + nw + ne + sw + se) * (1.0f / 12);
    float blend = fabsf(average - m) / range;
    blend = MIN(blend, 1);
    blend = blend * blend * (3 - 2 * blend);
    blend = blend * blend * subpixel;
    float rows = fabsf(nw - 2 * w + sw) + 2 * fabsf(n - 2 * m + s) + fabsf(ne - 2 * e + se);
    float columns = fabsf(nw - 2 * n + ne) + 2 * fabsf(w - 2 * m + e) + fabsf(sw - 2 * s + se);
    int horizontal = rows >= columns;
    float one = horizontal ? n : w, two = horizontal ? s : e;
    float gradient_one = fabsf(one - m), gradient_two = fabsf(two - m);
    int first = gradient_one >= gradient_two, side = first ? -1 : 1;
    int dx = horizontal ? 0 : side, dy = horizontal ? side : 0, sx = horizontal, sy = !horizontal;
    float gradient = 0.25f * MAX(gradient_one, gradient_two), edge = 0.5f * (m + (first ? one : two));
    float ends[2];
    int steps[2];
    for (int k = 0; k < 2; k++) {
        int ax = k ? sx : -sx, ay = k ? sy : -sy, i = 1;
        for (;; i++) {
            int px = x + i * ax, py = y + i * ay;
            ends[k] = 0.5f * (luma(image, px, py, wide, high) + luma(image, px + dx, py + dy, wide, high)) - edge;
            if (fabsf(ends[k]) >= gradient || i == SEARCH)
                break;
        }
        steps[k] = i;
    }
    int k = steps[0] < steps[1] ? 0 : 1;
    float offset = (m - edge < 0) != (ends[k] < 0) ? 0.5f - (float)steps[k] / (steps[0] + steps[1]) : 0;
    float amount = MAX(offset, blend);
    uchar4 other = at(image, x + dx, y + dy, wide, high);
    centre.x = (uchar)(centre.x + amount * ((float)other.x - centre.x) + 0.5f);
    centre.y = (uchar)(centre.y + amount * ((float)other.y - centre.y) + 0.5f);
    centre.z = (uchar)(centre.z + amount * ((float)other.z - centre.z) + 0.5f);
    return centre;
}

void run(const float4 *restrict hdr, uchar4 *restrict ldr, uchar4 *restrict out, int w, int h, float exposure,
         float threshold, float least_threshold, float subpixel) {
#pragma omp simd
    for (int i = 0; i < w * h; i++) {
        float r = powf(filmic(hdr[i].x * exposure), 1 / 2.2f);
        float g = powf(filmic(hdr[i].y * exposure), 1 / 2.2f);
        float b = powf(filmic(hdr[i].z * exposure), 1 / 2.2f);
        float bright = 0.299f * r + 0.587f * g + 0.114f * b;
        ldr[i].x = (int)(r * 255 + 0.5f);
        ldr[i].y = (int)(g * 255 + 0.5f);
        ldr[i].z = (int)(b * 255 + 0.5f);
        ldr[i].w = (int)(bright * 255 + 0.5f);
    }
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            uchar4 c = ldr[y * w + x];
            float m = c.w * (1.0f / 255);
            float n = luma(ldr, x, y - 1, w, h), s = luma(ldr, x, y + 1, w, h);
            float l = luma(ldr, x - 1, y, w, h), r = luma(ldr, x + 1, y, w, h);
            float most = MAX(m, MAX(MAX(n, s), MAX(l, r))), least = MIN(m, MIN(MIN(n, s), MIN(l, r)));
            float range = most - least, limit = most * threshold;
            out[y * w + x] = range < MAX(least_threshold, limit)
                                 ? c
                                 : smoothed(ldr, x, y, w, h, n, s, l, r, range, subpixel);
        }
}
