// A picture of triangles by Moller and Trumbore's test, with one lamp, shadows and a floor of squares: each ray asks
// triangles in vectors, from arrays that are made first.
#include "native.h"

typedef struct {
    float x, y, z;
} Vec;

typedef struct {
    float a[3], b[3], c[3];
    uchar color[4];
} Triangle;

enum { W = 16 };
typedef struct {
    float *ax, *ay, *az, *ux, *uy, *uz, *vx, *vy, *vz;
} Soup;

static Vec vec(float x, float y, float z) {
    return (Vec){x, y, z};
}
static Vec add(Vec a, Vec b) {
    return vec(a.x + b.x, a.y + b.y, a.z + b.z);
}
static Vec scaled(Vec a, float s) {
    return vec(a.x * s, a.y * s, a.z * s);
}
static float dot(Vec a, Vec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static Vec normalized(Vec a) {
    float l = sqrtf(dot(a, a));
    return vec(a.x / l, a.y / l, a.z / l);
}

// The distances to W triangles, 1e30 where there is none.
static inline void distances(Soup s, int first, Vec o, Vec d, float *restrict out) {
#pragma omp simd
    for (int l = 0; l < W; l++) {
        int i = first + l;
        float ux = s.ux[i], uy = s.uy[i], uz = s.uz[i], vx = s.vx[i], vy = s.vy[i], vz = s.vz[i];
        float px = d.y * vz - d.z * vy, py = d.z * vx - d.x * vz, pz = d.x * vy - d.y * vx;
        float det = ux * px + uy * py + uz * pz, inv = 1 / det;
        float sx = o.x - s.ax[i], sy = o.y - s.ay[i], sz = o.z - s.az[i];
        float u = (sx * px + sy * py + sz * pz) * inv;
        float qx = sy * uz - sz * uy, qy = sz * ux - sx * uz, qz = sx * uy - sy * ux;
        float v = (d.x * qx + d.y * qy + d.z * qz) * inv, t = (vx * qx + vy * qy + vz * qz) * inv;
        int in = (fabsf(det) >= 1e-7f) & (u >= 0) & (u <= 1) & (v >= 0) & (u + v <= 1) & (t > 1e-3f);
        out[l] = in ? t : 1e30f;
    }
}

void run(const Triangle *restrict tris, float *restrict image, int n, int w, int h) {
    int padded = (n + W - 1) / W * W;
    float *own = calloc(9L * padded, sizeof(float));
    float *at[9];
    for (int k = 0; k < 9; k++)
        at[k] = own + k * padded;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            at[k][i] = tris[i].a[k];
            at[3 + k][i] = tris[i].b[k] - tris[i].a[k];
            at[6 + k][i] = tris[i].c[k] - tris[i].a[k];
        }
    Soup soup = {at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7], at[8]};
    Vec eye = {0, 2, -6}, lamp = {4, 7, -3};
    for (int py = 0; py < h; py++)
        for (int px = 0; px < w; px++) {
            Vec dir = normalized(vec((px - w * 0.5f) / h, (h * 0.45f - py) / h, 1)), color = {0.5f, 0.7f, 1};
            float t = 1e30f, found[W];
            int index = -1;
            for (int first = 0; first < padded; first += W) {
                float least = 1e30f;
                distances(soup, first, eye, dir, found);
#pragma omp simd reduction(min : least)
                for (int l = 0; l < W; l++)
                    least = MIN(least, found[l]);
                if (least < t)
                    for (int l = 0; l < W; l++)
                        if (found[l] < t)
                            t = found[l], index = first + l;
            }
            if (dir.y < 0 && -eye.y / dir.y < t)
                t = -eye.y / dir.y, index = -2;
            if (index != -1) {
                Vec where = add(eye, scaled(dir, t)), normal = {0, 1, 0};
                if (index == -2) {
                    float shade = ((int)floorf(where.x) + (int)floorf(where.z)) & 1 ? 0.9f : 0.2f;
                    color = vec(shade, shade, shade);
                } else {
                    int i = index;
                    Vec u = {soup.ux[i], soup.uy[i], soup.uz[i]}, v = {soup.vx[i], soup.vy[i], soup.vz[i]};
                    normal = normalized(vec(u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x));
                    if (dot(normal, dir) > 0)
                        normal = scaled(normal, -1);
                    const uchar *c = tris[i].color;
                    color = vec(c[0] / 255.0f, c[1] / 255.0f, c[2] / 255.0f);
                }
                Vec to_lamp = add(lamp, scaled(where, -1));
                float distance = sqrtf(dot(to_lamp, to_lamp)), light = 0.15f;
                to_lamp = scaled(to_lamp, 1 / distance);
                float facing = dot(normal, to_lamp);
                if (facing > 0) {
                    Vec origin = add(where, scaled(normal, 1e-3f));
                    int dark = 0;
                    for (int first = 0; first < padded && !dark; first += W) {
                        distances(soup, first, origin, to_lamp, found);
                        for (int l = 0; l < W; l++)
                            dark |= found[l] < distance;
                    }
                    if (!dark)
                        light += 0.85f * facing;
                }
                color = scaled(color, light);
            }
            float *out = image + 4L * (py * w + px);
            out[0] = color.x, out[1] = color.y, out[2] = color.z, out[3] = 1;
        }
    free(own);
}
