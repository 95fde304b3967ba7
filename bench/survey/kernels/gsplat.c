// Splats of Gaussians: projection, lists for tiles, sorted by depth; a tile's rows of 16 pixels are vectors.
#include "native.h"
enum { TILE = 16, MOST = 1024 };

typedef struct {
    float rotation[9], translation[3], fx, fy, cx, cy;
    int width, height;
} Camera;

typedef struct {
    float x, y, a, b, c, opacity, color[3], depth;
    int x0, y0, x1, y1;
} Splat;

static int project(const float *restrict m, const float *restrict s, const float *restrict quaternion,
                   const Camera *restrict camera, Splat *restrict out) {
    const float *v = camera->rotation, *t = camera->translation;
    float x = v[0] * m[0] + v[1] * m[1] + v[2] * m[2] + t[0], y = v[3] * m[0] + v[4] * m[1] + v[5] * m[2] + t[1];
    float z = v[6] * m[0] + v[7] * m[1] + v[8] * m[2] + t[2];
    if (z < 0.2f)
        return 0;
    float qw = quaternion[0], qx = quaternion[1], qy = quaternion[2], qz = quaternion[3];
    float length = 1 / sqrtf(qw * qw + qx * qx + qy * qy + qz * qz);
    qw *= length, qx *= length, qy *= length, qz *= length;
    float r[3][3] = {
        {1 - 2 * (qy * qy + qz * qz), 2 * (qx * qy - qw * qz), 2 * (qx * qz + qw * qy)},
        {2 * (qx * qy + qw * qz), 1 - 2 * (qx * qx + qz * qz), 2 * (qy * qz - qw * qx)},
        {2 * (qx * qz - qw * qy), 2 * (qy * qz + qw * qx), 1 - 2 * (qx * qx + qy * qy)},
    };
    float jx = camera->fx / z, jy = camera->fy / z, mm[2][3];
    float row0[3], row1[3];
    for (int k = 0; k < 3; k++) {
        row0[k] = jx * v[k] - jx * x / z * v[6 + k];
        row1[k] = jy * v[3 + k] - jy * y / z * v[6 + k];
    }
    for (int k = 0; k < 3; k++) {
        mm[0][k] = (row0[0] * r[0][k] + row0[1] * r[1][k] + row0[2] * r[2][k]) * s[k];
        mm[1][k] = (row1[0] * r[0][k] + row1[1] * r[1][k] + row1[2] * r[2][k]) * s[k];
    }
    float a = mm[0][0] * mm[0][0] + mm[0][1] * mm[0][1] + mm[0][2] * mm[0][2] + 0.3f;
    float b = mm[0][0] * mm[1][0] + mm[0][1] * mm[1][1] + mm[0][2] * mm[1][2];
    float c = mm[1][0] * mm[1][0] + mm[1][1] * mm[1][1] + mm[1][2] * mm[1][2] + 0.3f;
    float det = a * c - b * b;
    if (det <= 0)
        return 0;
    float middle = 0.5f * (a + c), radius = ceilf(3 * sqrtf(middle + sqrtf(MAX(0.1f, middle * middle - det))));
    float px = camera->fx * x / z + camera->cx, py = camera->fy * y / z + camera->cy;
    int tiles_x = (camera->width + TILE - 1) / TILE, tiles_y = (camera->height + TILE - 1) / TILE;
    int x0 = (px - radius) / TILE, y0 = (py - radius) / TILE;
    int x1 = (px + radius + TILE - 1) / TILE, y1 = (py + radius + TILE - 1) / TILE;
    *out = (Splat){.x = px, .y = py, .a = c / det, .b = -b / det, .c = a / det, .depth = z,
                   .x0 = MIN(tiles_x, MAX(0, x0)), .y0 = MIN(tiles_y, MAX(0, y0)),
                   .x1 = MIN(tiles_x, MAX(0, x1)), .y1 = MIN(tiles_y, MAX(0, y1))};
    return (out->x1 - out->x0) * (out->y1 - out->y0) != 0;
}

static int by_depth(const void *a, const void *b) {
    ull x = *(const ull *)a, y = *(const ull *)b;
    return (x > y) - (x < y);
}

void run(const float *restrict means, const float *restrict scales, const float *restrict quaternions,
         const float *restrict opacities, const float *restrict colors, const Camera *restrict camera,
         float *restrict image, float *restrict rest, int n, int width, int height) {
    int tiles_x = (width + TILE - 1) / TILE, tiles_y = (height + TILE - 1) / TILE, plane = width * height;
    Splat *splats = malloc(n * sizeof *splats);
    ull *lists = malloc((long)tiles_x * tiles_y * MOST * sizeof *lists);
    int *counts = calloc(tiles_x * tiles_y, sizeof *counts);
    for (int i = 0; i < n; i++) {
        Splat *s = splats + i;
        if (!project(means + 3 * i, scales + 3 * i, quaternions + 4 * i, camera, s))
            continue;
        s->opacity = opacities[i];
        memcpy(s->color, colors + 3 * i, sizeof s->color);
        uint depth;
        memcpy(&depth, &s->depth, 4);
        for (int y = s->y0; y < s->y1; y++)
            for (int x = s->x0; x < s->x1; x++) {
                int tile = y * tiles_x + x;
                if (counts[tile] < MOST)
                    lists[(long)tile * MOST + counts[tile]++] = (ull)depth << 32 | i;
            }
    }
    for (int ty = 0; ty < tiles_y; ty++)
        for (int tx = 0; tx < tiles_x; tx++) {
            int count = counts[ty * tiles_x + tx];
            ull *list = lists + (long)(ty * tiles_x + tx) * MOST;
            qsort(list, count, sizeof *list, by_depth);
            for (int py = ty * TILE; py < MIN(height, (ty + 1) * TILE); py++) {
                float t[TILE], red[TILE] = {0}, green[TILE] = {0}, blue[TILE] = {0}, left[TILE];
                for (int i = 0; i < TILE; i++)
                    t[i] = left[i] = 1;  // `left` is 0 for a pixel that is done
                for (int k = 0; k < count; k++) {
                    const Splat s = splats[(uint)list[k]];
                    float dy = s.y - py, open = 0, most = -INFINITY, power[TILE], e[TILE];
#pragma omp simd reduction(max : most)
                    for (int i = 0; i < TILE; i++) {
                        float dx = s.x - (tx * TILE + i);
                        power[i] = -0.5f * (s.a * dx * dx + s.c * dy * dy) - s.b * dx * dy;
                        e[i] = MAX(-60, MIN(0, power[i]));  // so that the exponential has no special cases
                        most = power[i] > most ? power[i] : most;
                    }
                    if (most < -5.6f)  // no alpha of 1/255
                        continue;
#pragma omp simd
                    for (int i = 0; i < TILE; i++)
                        e[i] = expf(e[i]);
#pragma omp simd reduction(+ : open)
                    for (int i = 0; i < TILE; i++) {
                        float alpha = s.opacity * e[i];
                        alpha = alpha < 0.99f ? alpha : 0.99f;
                        alpha = power[i] > 0 ? 0 : alpha;
                        alpha = alpha < 1.f / 255 ? 0 : alpha;
                        float next = t[i] * (1 - alpha);
                        float going = next < 0.0001f ? 0 : left[i];  // without alpha it is not less
                        float weight = alpha * t[i] * going;
                        red[i] += weight * s.color[0];
                        green[i] += weight * s.color[1];
                        blue[i] += weight * s.color[2];
                        t[i] = going > 0 ? next : t[i];
                        left[i] = going;
                        open += going;
                    }
                    if (open == 0)
                        break;
                }
                int from = py * width + tx * TILE;
                for (int i = 0; i < MIN(TILE, width - tx * TILE); i++) {
                    rest[from + i] = t[i];
                    image[from + i] = red[i] + t[i] * 0.1f;
                    image[plane + from + i] = green[i] + t[i] * 0.1f;
                    image[2 * plane + from + i] = blue[i] + t[i] * 0.1f;
                }
            }
        }
    free(splats);
    free(lists);
    free(counts);
}
