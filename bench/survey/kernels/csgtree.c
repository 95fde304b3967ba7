// A solid of spheres, boxes and rings that are joined and cut, marched through by rays.
#include "native.h"

enum { W = 16, MOST = 16 };  // rays side by side

typedef struct {
    int kind;
    float x, y, z, size;
} Part;

static inline float larger(float a, float b) { return a > b ? a : b; }
static inline float smaller(float a, float b) { return a < b ? a : b; }

static void distances(const Part *parts, int count, const float *x, const float *y, const float *z, float *out) {
    float stack[MOST][W];
    int top = 0;
    for (int i = 0; i < count; i++) {
        Part p = parts[i];
        float *restrict a = stack[p.kind < 3 ? top : top - 2], *restrict b = stack[top - (p.kind >= 3)];
        switch (p.kind) {
        case 0:
#pragma omp simd
            for (int l = 0; l < W; l++) {
                float dx = x[l] - p.x, dy = y[l] - p.y, dz = z[l] - p.z;
                a[l] = sqrtf(dx * dx + dy * dy + dz * dz) - p.size;
            }
            break;
        case 1:
#pragma omp simd
            for (int l = 0; l < W; l++) {
                float qx = fabsf(x[l] - p.x) - p.size, qy = fabsf(y[l] - p.y) - p.size, qz = fabsf(z[l] - p.z) - p.size;
                float ox = larger(qx, 0), oy = larger(qy, 0), oz = larger(qz, 0);
                a[l] = sqrtf(ox * ox + oy * oy + oz * oz) + smaller(larger(qx, larger(qy, qz)), 0);
            }
            break;
        case 2:
#pragma omp simd
            for (int l = 0; l < W; l++) {
                float dx = x[l] - p.x, dy = y[l] - p.y, dz = z[l] - p.z;
                float around = sqrtf(dx * dx + dz * dz) - p.size;
                a[l] = sqrtf(around * around + dy * dy) - 0.25f * p.size;
            }
            break;
        case 3:
#pragma omp simd
            for (int l = 0; l < W; l++)
                a[l] = smaller(a[l], b[l]);
            break;
        case 4:
#pragma omp simd
            for (int l = 0; l < W; l++)
                a[l] = larger(a[l], -b[l]);
            break;
        default:
#pragma omp simd
            for (int l = 0; l < W; l++) {
                float h = larger(p.size - fabsf(a[l] - b[l]), 0) / p.size;
                a[l] = smaller(a[l], b[l]) - h * h * p.size * 0.25f;
            }
        }
        top += p.kind < 3 ? 1 : -1;
    }
    memcpy(out, stack[0], W * sizeof *out);
}

void run(const Part *restrict parts, float *restrict depth, uchar *restrict steps, int count, int width, int height,
         float far_off) {
    for (int py = 0; py < height; py++)
        for (int first = 0; first < width; first += W) {
            float wx[W], wy[W], wz[W], t[W] = {0}, x[W], y[W], z[W], d[W];
            int k[W] = {0}, going[W];
#pragma omp simd
            for (int l = 0; l < W; l++) {
                float ax = (first + l + 0.5f - 0.5f * width) / height, ay = (py + 0.5f - 0.5f * height) / height;
                float scale = 1 / sqrtf(ax * ax + ay * ay + 1.2f * 1.2f);
                wx[l] = scale * ax, wy[l] = scale * ay, wz[l] = scale * 1.2f;
                going[l] = 1;
            }
            for (int step = 0; step < 48; step++) {
                int any = 0;
#pragma omp simd
                for (int l = 0; l < W; l++)
                    x[l] = t[l] * wx[l], y[l] = t[l] * wy[l], z[l] = t[l] * wz[l] - 4;
                distances(parts, count, x, y, z, d);
#pragma omp simd reduction(| : any)
                for (int l = 0; l < W; l++) {
                    int on = going[l] & !(d[l] < 1e-3f);
                    float next = t[l] + d[l];
                    int beyond = next > far_off;
                    t[l] = on ? (beyond ? far_off : next) : t[l];
                    on &= !beyond;
                    k[l] += on;
                    going[l] = on;
                    any |= on;
                }
                if (!any)
                    break;
            }
            for (int l = 0; l < MIN(W, width - first); l++) {
                depth[py * width + first + l] = t[l];
                steps[py * width + first + l] = k[l];
            }
        }
}
