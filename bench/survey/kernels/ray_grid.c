// A picture of a mesh by rays through a grid, a pixel after the other.
#include "native.h"

typedef struct {
    float x, y, z;
} Vec;
typedef struct {
    float t, u, v;
    int triangle;
} Hit;

static inline Vec plus(Vec a, Vec b) { return (Vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline Vec minus(Vec a, Vec b) { return (Vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline Vec times(float s, Vec a) { return (Vec){s * a.x, s * a.y, s * a.z}; }
static inline float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline Vec cross(Vec a, Vec b) {
    return (Vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline Vec normalize(Vec a) { return times(1 / sqrtf(dot(a, a)), a); }
static inline float least(float a, float b) { return a < b ? a : b; }
static inline float most(float a, float b) { return a > b ? a : b; }

typedef struct {
    const Vec *vertices;
    const int *triangles, *cell_start, *cell_triangles;
    int size[3];
    float low[3], side;
} Scene;

static inline __attribute__((always_inline)) int trace(const Scene *s, Vec origin, Vec way, Hit *hit, int any) {
    float from[3] = {origin.x - s->low[0], origin.y - s->low[1], origin.z - s->low[2]}, d[3] = {way.x, way.y, way.z};
    float inv[3], next[3], delta[3], enter = 0, leave = 1e30f;
    int cell[3], step[3], end[3], stride[3] = {1, s->size[0], s->size[0] * s->size[1]}, index = 0;
    for (int a = 0; a < 3; a++) {
        inv[a] = 1 / d[a];
        float t0 = -from[a] * inv[a], t1 = (s->size[a] * s->side - from[a]) * inv[a];
        enter = most(enter, least(t0, t1));
        leave = least(leave, most(t0, t1));
        delta[a] = fabsf(s->side * inv[a]);
    }
    if (enter > leave)
        return 0;
    for (int a = 0; a < 3; a++) {
        int c = (int)floorf((from[a] + enter * d[a]) / s->side), up = d[a] >= 0;
        c = MIN(MAX(c, 0), s->size[a] - 1);
        cell[a] = c;
        step[a] = up ? 1 : -1;
        end[a] = up ? s->size[a] : -1;
        next[a] = ((c + up) * s->side - from[a]) * inv[a];
        index += c * stride[a];
        stride[a] *= step[a];
    }
    for (;;) {
        for (int k = s->cell_start[index]; k < s->cell_start[index + 1]; k++) {
            int id = s->cell_triangles[k];
            const int *t = s->triangles + 3 * id;
            Vec a = s->vertices[t[0]], e1 = minus(s->vertices[t[1]], a), e2 = minus(s->vertices[t[2]], a);
            Vec p = cross(way, e2), o = minus(origin, a), q = cross(o, e1);
            float det = dot(e1, p);
            if (fabsf(det) < 1e-9f)
                continue;
            float r = 1 / det, u = dot(o, p) * r, v = dot(way, q) * r, at = dot(e2, q) * r;
            if ((u < 0) | (u > 1) | (v < 0) | (u + v > 1) | (at <= 1e-4f) | (at >= hit->t))
                continue;
            *hit = (Hit){at, u, v, id};
            if (any)
                return 1;
        }
        int a = next[0] < next[1] ? (next[0] < next[2] ? 0 : 2) : (next[1] < next[2] ? 1 : 2);
        if (hit->t <= next[a])
            return 1;
        cell[a] += step[a];
        if (cell[a] == end[a])
            return 0;
        index += stride[a];
        next[a] += delta[a];
    }
}

void run(const Vec *restrict vertices, const Vec *restrict normals, const int *restrict triangles,
         const int *restrict cell_start, const int *restrict cell_triangles, uchar *restrict picture, int *restrict seen,
         int width, int height, int nx, int ny, int nz, float low_x, float low_y, float low_z, float side) {
    Scene scene = {vertices, triangles, cell_start, cell_triangles, {nx, ny, nz}, {low_x, low_y, low_z}, side};
    Vec eye = {0.3f, 0.6f, 3.2f}, forward = normalize((Vec){-0.3f, -0.6f, -3.2f});
    Vec right = normalize(cross(forward, (Vec){0, 1, 0})), up = cross(right, forward);
    for (int py = 0; py < height; py++)
        for (int px = 0; px < width; px++) {
            float sx = (2 * (px + 0.5f) / width - 1) * 0.5f * width / height;
            float sy = (1 - 2 * (py + 0.5f) / height) * 0.5f;
            Vec way = normalize(plus(plus(forward, times(sx, right)), times(sy, up)));
            Hit hit = {1e30f, 0, 0, -1};
            float color[3] = {0.2f, 0.3f, 0.5f + 0.3f * way.y};
            if (trace(&scene, eye, way, &hit, 0)) {
                const int *t = triangles + 3 * hit.triangle;
                Vec n = times(1 - hit.u - hit.v, normals[t[0]]);
                n = normalize(plus(plus(n, times(hit.u, normals[t[1]])), times(hit.v, normals[t[2]])));
                Vec at = plus(eye, times(hit.t, way)), light = normalize(minus((Vec){2, 3, 2}, at));
                float facing = dot(n, light), bright = 0.1f;
                if (facing > 0) {
                    Hit shadow = {1e30f, 0, 0, -1};
                    if (!trace(&scene, plus(at, times(2e-3f, n)), light, &shadow, 1)) {
                        float shine = dot(n, normalize(minus(light, way)));
                        bright += 0.7f * facing + 0.3f * powf(shine > 0 ? shine : 0, 32);
                    }
                }
                color[0] = bright * 0.9f, color[1] = bright * 0.7f, color[2] = bright * 0.4f;
            }
            long p = (long)py * width + px;
            for (int k = 0; k < 3; k++)
                picture[4 * p + k] = (uchar)(255 * least(most(color[k], 0), 1));
            picture[4 * p + 3] = 255;
            seen[p] = hit.triangle;
        }
}
