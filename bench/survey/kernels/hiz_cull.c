#include "native.h"

typedef struct {
    float c[4], e[4];
    uint mesh, pad[3];
} Instance;

typedef struct {
    uint count, instances, first_index;
    int base_vertex;
    uint first_instance;
} Draw;

static inline float clamp01(float v) {
    return v < 0 ? 0 : v > 1 ? 1 : v;
}

static void down(const float *restrict d, float *restrict out, int w, int h) {
    int ow = MAX(w / 2, 1), oh = MAX(h / 2, 1);
    for (int y = 0; y < oh; y++) {
        int y1 = MIN(2 * y + ((h & 1) && y == oh - 1 ? 2 : 1), h - 1);
        for (int x = 0; x < ow; x++)
            out[y * ow + x] = 0;
        for (int j = 2 * y; j <= y1; j++) {
            const float *row = d + j * w;
            int pairs = w > 1 ? ow : 0;
#pragma omp simd
            for (int x = 0; x < pairs; x++) {
                float a = MAX(row[2 * x], row[2 * x + 1]);
                out[y * ow + x] = MAX(out[y * ow + x], a);
            }
            if (w & 1)
                out[y * ow + ow - 1] = MAX(out[y * ow + ow - 1], row[w - 1]);
        }
    }
}

void run(const Instance *restrict instances, const float *restrict m, float *restrict pyramid, const int *restrict mips,
         const uint *restrict meshes, Draw *restrict draws, uint *restrict draw_count, uchar *restrict visible, int n,
         int levels) {
    for (int k = 1; k < levels; k++)
        down(pyramid + mips[4 * k - 4], pyramid + mips[4 * k], mips[4 * k - 3], mips[4 * k - 2]);
    for (int id = 0; id < n; id++) {
        const Instance *o = instances + id;
        float u0 = 1, v0 = 1, u1 = 0, v1 = 0, nearest = 1, clip[4][8];
        uint outside = 0x3f;
        int crosses = 0;
#pragma omp simd
        for (int k = 0; k < 8; k++) {
            float x = o->c[0] + (k & 1 ? o->e[0] : -o->e[0]), y = o->c[1] + (k & 2 ? o->e[1] : -o->e[1]),
                  z = o->c[2] + (k & 4 ? o->e[2] : -o->e[2]);
            for (int r = 0; r < 4; r++)
                clip[r][k] = m[4 * r] * x + m[4 * r + 1] * y + m[4 * r + 2] * z + m[4 * r + 3];
        }
        for (int k = 0; k < 8; k++) {
            float x = clip[0][k], y = clip[1][k], z = clip[2][k], w = clip[3][k];
            outside &= (x < -w) | (x > w) << 1 | (y < -w) << 2 | (y > w) << 3 | (z < 0) << 4 | (z > w) << 5;
            if (w <= 0 || z < 0) {
                crosses = 1;
                continue;
            }
            float inv = 1 / w, u = x * inv * 0.5f + 0.5f, v = y * inv * -0.5f + 0.5f, d = z * inv;
            u0 = MIN(u0, u);
            v0 = MIN(v0, v);
            u1 = MAX(u1, u);
            v1 = MAX(v1, v);
            nearest = MIN(nearest, d);
        }
        int result = 0;
        if (!outside && crosses) {
            result = 2;
        } else if (!outside) {
            u0 = clamp01(u0);
            v0 = clamp01(v0);
            u1 = clamp01(u1);
            v1 = clamp01(v1);
            float a = (u1 - u0) * mips[1], b = (v1 - v0) * mips[2], size = MAX(a, b), far = 0;
            int level = size <= 2 ? 0 : MIN((int)ceilf(log2f(size * 0.5f)), levels - 1);
            const int *mip = mips + 4 * level;
            int x0 = MIN((int)(u0 * mip[1]), mip[1] - 1), x1 = MIN((int)(u1 * mip[1]), mip[1] - 1);
            int y0 = MIN((int)(v0 * mip[2]), mip[2] - 1), y1 = MIN((int)(v1 * mip[2]), mip[2] - 1);
            for (int y = y0; y <= y1; y++)
                for (int x = x0; x <= x1; x++)
                    far = MAX(far, pyramid[mip[0] + y * mip[1] + x]);
            result = nearest <= far;
        }
        visible[id] = result;
        if (result && draw_count[o->mesh]++ == 0)
            draws[o->mesh] = (Draw){meshes[2 * o->mesh + 1], 1, meshes[2 * o->mesh], 0, o->mesh << 16};
    }
}
